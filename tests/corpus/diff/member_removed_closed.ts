// for MEMBER_REMOVED_CLOSED
// old
export interface Asked { a: string; b?: number; [key: string]: string }
// new
export interface Asked { a: string; [key: string]: string }
// expect MEMBER_REMOVED_CLOSED Asked.b client=used server=holds bindings=breaks
// python
// | Asked(a="a", b=1)
