// for INDEX_REMOVED
// old
export interface Asked { a: string; [key: string]: unknown }
// new
export interface Asked { a: string }
// expect INDEX_REMOVED Asked{} client=holds server=holds bindings=holds
// python
// | Asked(a="a")
