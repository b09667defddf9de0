// for MEMBER_BECAME_OPTIONAL
// old
export interface Asked { a: string }
// new
export interface Asked { a?: string }
// expect MEMBER_BECAME_OPTIONAL Asked.a client=holds server=breaks bindings=breaks
// python
// | def length(x: Asked) -> int:
// |     return len(x.a)
