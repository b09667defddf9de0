// for CONSTANT_ADDED
// old
// new
export const LIMIT = 3;
// expect CONSTANT_ADDED LIMIT client=holds server=holds bindings=holds
// python
// | Asked(what="a")
