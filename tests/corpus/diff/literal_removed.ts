// for LITERAL_REMOVED
// old
export interface Asked { a: "x" | "y" | "z" }
// new
export interface Asked { a: "x" | "y" }
// expect LITERAL_REMOVED Asked.a client=used server=holds bindings=used
// python
// | Asked(a="z")
