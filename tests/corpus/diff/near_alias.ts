// near TYPE_WIDENED
// old
export interface Asked { id: string | number }
// new
export interface Asked { id: RequestId }
// expect TYPE_RESPELLED Asked.id client=holds server=holds bindings=holds
