// for MEMBER_BECAME_NULLABLE
// old
export interface Asked { a: string }
// new
export interface Asked { a: string | null }
// expect MEMBER_BECAME_NULLABLE Asked.a client=holds server=used bindings=breaks
// python
// | def length(x: Asked) -> int:
// |     return len(x.a)
