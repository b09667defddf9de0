// for LITERAL_ADDED_OPEN
// old
export interface Asked { a: "x" | "y" | string }
// new
export interface Asked { a: "x" | "y" | "z" | string }
// expect LITERAL_ADDED_OPEN Asked.a client=holds server=holds bindings=holds
// python
// | Asked(a="z")
