// for INDEX_ADDED
// old
export interface Asked { a: string }
// new
export interface Asked { a: string; [key: string]: unknown }
// expect INDEX_ADDED Asked{} client=holds server=holds bindings=holds
// python
// | Asked(a="a")
