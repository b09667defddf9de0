// for ARM_ADDED
// old
export interface Asked { a: string | string[] }
// new
export interface Asked { a: string | string[] | boolean }
// expect ARM_ADDED Asked.a client=holds server=used bindings=used
// python
// | from typing import assert_never
// |
// | def told(x: Asked) -> int:
// |     if isinstance(x.a, str):
// |         return 1
// |     if isinstance(x.a, list):
// |         return 2
// |     assert_never(x.a)
