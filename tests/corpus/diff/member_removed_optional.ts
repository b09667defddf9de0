// for MEMBER_REMOVED_OPTIONAL
// old
export interface Asked { a: string; b?: string }
// new
export interface Asked { a: string }
// expect MEMBER_REMOVED_OPTIONAL Asked.b client=holds server=holds bindings=breaks
// python
// | Asked(a="a", b="b")
