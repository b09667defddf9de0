// for METHOD_KIND_CHANGED
// old
export interface TellRequest extends JSONRPCRequest { method: "tell"; params: Asked }
export type ClientRequest = AskRequest | TellRequest;
// new
export interface TellNotification extends JSONRPCNotification { method: "tell"; params: Asked }
export type ClientNotification = TellNotification;
// expect METHOD_KIND_CHANGED tell client=breaks server=breaks bindings=breaks
// expect ARM_REMOVED ClientRequest client=holds server=holds bindings=used
// expect DECLARATION_RENAMED TellNotification client=holds server=holds bindings=breaks
// expect MEMBER_MOVED TellNotification.jsonrpc client=holds server=holds bindings=holds
// expect ENVELOPE_MEMBER_REMOVED TellNotification.id client=holds server=holds bindings=breaks
// expect DECLARATION_ADDED ClientNotification client=holds server=holds bindings=holds
// python
// | TellRequest(id=1, params=Asked(what="a"))
