// for TYPE_BECAME_UNKNOWN
// old
export interface Asked { a: string }
// new
export interface Asked { a: unknown }
// expect TYPE_BECAME_UNKNOWN Asked.a client=holds server=used bindings=used
// python
// | def length(x: Asked) -> str:
// |     return "" + x.a
