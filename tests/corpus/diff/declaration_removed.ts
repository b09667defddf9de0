// for DECLARATION_REMOVED
// old
export interface More { a: string }
// new
// expect DECLARATION_REMOVED More client=holds server=holds bindings=breaks
// python
// | More(a="a")
