// for MEMBER_ADDED_REQUIRED_CLOSED
// old
export interface Asked { a: string; [key: string]: string }
// new
export interface Asked { a: string; b: number; [key: string]: string }
// expect MEMBER_ADDED_REQUIRED_CLOSED Asked.b client=breaks server=breaks bindings=breaks
// python
// | Asked(a="a")
