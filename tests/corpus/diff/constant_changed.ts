// for CONSTANT_CHANGED
// old
export const LIMIT = 3;
// new
export const LIMIT = 4;
// expect CONSTANT_CHANGED LIMIT client=holds server=holds bindings=used
// python
// | from typing import Literal
// |
// | limit: Literal[3] = LIMIT
