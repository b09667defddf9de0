// near TYPE_CLASS_CHANGED
// old
export interface Asked { a: string[]; b: (string | number) }
// new
export interface Asked { a: Array<string>; b: number | string }
// expect nothing
