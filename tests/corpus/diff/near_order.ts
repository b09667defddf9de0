// near LITERAL_ADDED
// old
export interface Asked { a: "x" | "y"; b: string }
// new
export interface Asked { b: string; a: "y" | "x" }
// expect nothing
