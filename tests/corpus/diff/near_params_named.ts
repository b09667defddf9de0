// near MEMBER_REMOVED_REQUIRED
// old
export interface AskRequest extends JSONRPCRequest { method: "ask"; params: { what: string } }
// new
// expect TYPE_CLASS_CHANGED AskRequest.params client=holds server=holds bindings=breaks
