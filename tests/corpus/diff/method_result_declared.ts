// for METHOD_RESULT_DECLARED
// old
export type ServerResult = Result;
export interface TellRequest extends JSONRPCRequest { method: "tell"; params: Asked }
export type ClientRequest = AskRequest | TellRequest;
// new
export type ServerResult = Result;
export interface TellRequest extends JSONRPCRequest { method: "tell"; params: Asked }
export type ClientRequest = AskRequest | TellRequest;
export interface TellResult extends Result { told: Told }
// expect METHOD_RESULT_DECLARED tell client=holds server=used bindings=holds
// expect DECLARATION_ADDED TellResult client=holds server=holds bindings=holds
// python
// | TellRequest(id=1, params=Asked(what="a"))
