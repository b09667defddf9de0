// for MEMBER_ADDED_OPTIONAL
// old
export interface Asked { a: string }
// new
export interface Asked { a: string; b?: string }
// expect MEMBER_ADDED_OPTIONAL Asked.b client=holds server=holds bindings=holds
// python
// | Asked(a="a")
