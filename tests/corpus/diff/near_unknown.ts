// near TYPE_BECAME_UNKNOWN
// old
export interface Asked { a: unknown }
// new
export interface Asked { a: string }
// expect TYPE_NARROWED Asked.a client=used server=holds bindings=used
