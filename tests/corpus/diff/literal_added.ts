// for LITERAL_ADDED
// old
export interface Asked { a: "x" | "y" }
// new
export interface Asked { a: "x" | "y" | "z" }
// expect LITERAL_ADDED Asked.a client=holds server=used bindings=used
// python
// | from typing import assert_never
// |
// | def told(x: Asked) -> int:
// |     if x.a == "x":
// |         return 1
// |     if x.a == "y":
// |         return 2
// |     assert_never(x.a)
