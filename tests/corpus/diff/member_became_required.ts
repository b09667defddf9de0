// for MEMBER_BECAME_REQUIRED
// old
export interface Asked { a?: string }
// new
export interface Asked { a: string }
// expect MEMBER_BECAME_REQUIRED Asked.a client=breaks server=holds bindings=breaks
// python
// | Asked()
