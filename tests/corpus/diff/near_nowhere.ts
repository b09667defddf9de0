// near MEMBER_ADDED_REQUIRED
// old
export interface Lonely { a: string }
// new
export interface Lonely { a: string; b: string }
// expect MEMBER_ADDED_REQUIRED Lonely.b client=holds server=holds bindings=breaks
