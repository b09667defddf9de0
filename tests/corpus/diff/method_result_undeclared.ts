// for METHOD_RESULT_UNDECLARED
// old
export type ServerResult = Result;
export interface TellRequest extends JSONRPCRequest { method: "tell"; params: Asked }
export type ClientRequest = AskRequest | TellRequest;
export interface TellResult extends Result { told: Told }
// new
export type ServerResult = Result;
export interface TellRequest extends JSONRPCRequest { method: "tell"; params: Asked }
export type ClientRequest = AskRequest | TellRequest;
// expect METHOD_RESULT_UNDECLARED tell client=used server=holds bindings=holds
// expect DECLARATION_REMOVED TellResult client=holds server=holds bindings=breaks
// python
// | TellRequest(id=1, params=Asked(what="a"))
