// for MEMBER_ADDED_REQUIRED
// old
export interface Told { a: string }
// new
export interface Told { a: string; b: string }
// expect MEMBER_ADDED_REQUIRED Told.b client=holds server=breaks bindings=breaks
// python
// | Told(a="a")
