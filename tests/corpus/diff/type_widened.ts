// for TYPE_WIDENED
// old
export interface Asked { a: string }
// new
export interface Asked { a: unknown }
// expect TYPE_WIDENED Asked.a client=holds server=used bindings=breaks
// python
// | def length(x: Asked) -> str:
// |     return "" + x.a
