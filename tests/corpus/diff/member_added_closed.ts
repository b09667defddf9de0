// for MEMBER_ADDED_CLOSED
// old
export interface Asked { a: string; [key: string]: string }
// new
export interface Asked { a: string; b?: number; [key: string]: string }
// expect MEMBER_ADDED_CLOSED Asked.b client=holds server=used bindings=holds
// python
// | Asked(a="a")
