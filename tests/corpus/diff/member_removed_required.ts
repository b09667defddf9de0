// for MEMBER_REMOVED_REQUIRED
// old
export interface Asked { a: string; b: string }
// new
export interface Asked { a: string }
// expect MEMBER_REMOVED_REQUIRED Asked.b client=holds server=breaks bindings=breaks
// python
// | Asked(a="a", b="b")
