// for CONSTANT_REMOVED
// old
export const LIMIT = 3;
// new
// expect CONSTANT_REMOVED LIMIT client=holds server=holds bindings=breaks
// python
// | print(LIMIT)
