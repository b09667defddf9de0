// for LITERAL_REMOVED_OPEN
// old
export interface Asked { a: "x" | "y" | "z" | string }
// new
export interface Asked { a: "x" | "y" | string }
// expect LITERAL_REMOVED_OPEN Asked.a client=holds server=holds bindings=holds
// python
// | Asked(a="z")
