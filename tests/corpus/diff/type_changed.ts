// for TYPE_CHANGED
// old
export interface Asked { a: string[] }
// new
export interface Asked { a: [number] }
// expect TYPE_CHANGED Asked.a client=used server=used bindings=breaks
// python
// | Asked(a=["x"])
