// for ENVELOPE_CONST_REMOVED
// old
// new
export interface AskRequest extends Request { id: RequestId; method: "ask"; params: Asked }
// expect ENVELOPE_CONST_REMOVED AskRequest.jsonrpc client=holds server=holds bindings=used
// expect MEMBER_MOVED AskRequest.id client=holds server=holds bindings=holds
// python
// | def version(x: AskRequest) -> str:
// |     return x.jsonrpc
