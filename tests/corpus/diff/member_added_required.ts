// for MEMBER_ADDED_REQUIRED
// old
export interface Asked { a: string }
// new
export interface Asked { a: string; b: string }
// expect MEMBER_ADDED_REQUIRED Asked.b client=breaks server=holds bindings=breaks
// python
// | Asked(a="a")
