// for INDEX_ADDED
// old
export interface Asked { a: string }
// new
export interface Asked { a: string; [key: `x-${string}`]: number }
// expect INDEX_ADDED Asked{`x-${string}`} client=holds server=holds bindings=holds
// python
// | Asked(a="a")
