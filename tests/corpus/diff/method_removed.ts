// for METHOD_REMOVED
// old
export interface TellRequest extends JSONRPCRequest { method: "tell"; params: Asked }
export type ClientRequest = AskRequest | TellRequest;
// new
// expect METHOD_REMOVED tell client=breaks server=holds bindings=breaks
// expect ARM_REMOVED ClientRequest client=holds server=holds bindings=used
// expect DECLARATION_REMOVED TellRequest client=holds server=holds bindings=breaks
// python
// | TellRequest(id=1, params=Asked(what="a"))
