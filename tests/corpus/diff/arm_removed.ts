// for ARM_REMOVED
// old
export interface Asked { a: string | boolean | string[] }
// new
export interface Asked { a: string | string[] }
// expect ARM_REMOVED Asked.a client=used server=holds bindings=used
// python
// | Asked(a=True)
