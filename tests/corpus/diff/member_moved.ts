// for MEMBER_MOVED
// old
export interface Base { a: string }
export interface Asked { a: string }
// new
export interface Base { a: string }
export interface Asked extends Base {}
// expect MEMBER_MOVED Asked.a client=holds server=holds bindings=holds
// python
// | Asked(a="a")
