// for ARM_REMOVED_COVERED
// old
export interface One { a: string }
export interface Two { a: string; b: string }
export interface Three { c: string }
export interface Asked { of: One | Three | Two }
// new
export interface One { a: string }
export interface Two { a: string; b: string }
export interface Three { c: string }
export interface Asked { of: One | Three }
// expect ARM_REMOVED_COVERED Asked.of client=holds server=holds bindings=used
// python
// | Asked(of=Two(a="a", b="b"))
