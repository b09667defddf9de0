// for TYPE_WIDENED
// old
export interface Asked { a: "x" | "y" }
// new
export interface Asked { a: string }
// expect TYPE_WIDENED Asked.a client=holds server=used bindings=breaks
// python
// | from typing import Literal
// |
// | def chosen(x: Asked) -> Literal["x", "y"]:
// |     return x.a
