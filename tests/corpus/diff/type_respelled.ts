// for TYPE_RESPELLED
// old
export interface Asked { a: object }
// new
export interface Asked { a: { [key: string]: unknown } }
// expect TYPE_RESPELLED Asked.a client=holds server=holds bindings=holds
// python
// | Asked(a={"x": 1})
