// for TYPE_CLASS_CHANGED
// old
export interface Asked { a: object }
// new
export interface Asked { a: { b?: unknown } }
// expect TYPE_CLASS_CHANGED Asked.a client=holds server=holds bindings=breaks
// python
// | Asked(a={"x": 1})
