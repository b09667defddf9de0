// for TYPE_REPLACED
// old
export interface Asked { a: string }
// new
export interface Asked { a: number }
// expect TYPE_REPLACED Asked.a client=breaks server=breaks bindings=breaks
// python
// | Asked(a="a")
