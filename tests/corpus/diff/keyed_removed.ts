// for INDEX_REMOVED
// old
export interface Asked { a: string; [key: `x-${string}`]: number }
// new
export interface Asked { a: string }
// expect INDEX_REMOVED Asked{`x-${string}`} client=holds server=holds bindings=holds
// python
// | Asked(a="a")
