// for DECLARATION_RENAMED
// old
export interface Asked { more: More }
export interface More { a: string; b: number }
// new
export interface Asked { more: Less }
export interface Less { a: string; b: number }
// expect DECLARATION_RENAMED Less client=holds server=holds bindings=breaks
// python
// | More(a="a", b=1)
