// for ARM_ADDED_COVERED
// old
export interface One { a: string }
export interface Two { a: string; b: string }
export interface Three { c: string }
export interface Asked { of: One | Three }
// new
export interface One { a: string }
export interface Two { a: string; b: string }
export interface Three { c: string }
export interface Asked { of: One | Three | Two }
// expect ARM_ADDED_COVERED Asked.of client=holds server=holds bindings=used
// python
// | from typing import assert_never
// |
// | def told(x: Asked) -> str:
// |     match x.of:
// |         case One():
// |             return x.of.a
// |         case Three():
// |             return x.of.c
// |     assert_never(x.of)
