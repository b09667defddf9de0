// for METHOD_ADDED
// old
// new
export interface TellRequest extends JSONRPCRequest { method: "tell"; params: Asked }
export interface TellResult extends Result {}
export type ClientRequest = AskRequest | TellRequest;
export type ServerResult = AskResult | TellResult;
// expect METHOD_ADDED tell client=holds server=used bindings=holds
// expect ARM_ADDED ClientRequest client=holds server=holds bindings=used
// expect ARM_ADDED ServerResult client=holds server=holds bindings=used
// expect DECLARATION_ADDED TellRequest client=holds server=holds bindings=holds
// expect DECLARATION_ADDED TellResult client=holds server=holds bindings=holds
// python
// | AskRequest(id=1, params=Asked(what="a"))
