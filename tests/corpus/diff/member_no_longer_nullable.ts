// for MEMBER_NO_LONGER_NULLABLE
// old
export interface Asked { a: string | null }
// new
export interface Asked { a: string }
// expect MEMBER_NO_LONGER_NULLABLE Asked.a client=used server=holds bindings=used
// python
// | Asked(a=None)
