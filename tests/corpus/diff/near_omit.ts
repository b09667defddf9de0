// near MEMBER_REMOVED_OPTIONAL
// old
export interface Base { a: string; b?: string }
export interface Asked extends Omit<Base, "b"> {}
// new
export interface Base { a: string; b?: string }
export interface Asked { a: string }
// expect MEMBER_MOVED Asked.a client=holds server=holds bindings=holds
