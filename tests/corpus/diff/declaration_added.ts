// for DECLARATION_ADDED
// old
// new
export interface More { a: string }
// expect DECLARATION_ADDED More client=holds server=holds bindings=holds
// python
// | Asked(what="a")
