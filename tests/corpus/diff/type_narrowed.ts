// for TYPE_NARROWED
// old
export interface Asked { a: string }
// new
export interface Asked { a: "x" | "y" }
// expect TYPE_NARROWED Asked.a client=used server=holds bindings=used
// python
// | Asked(a="other")
