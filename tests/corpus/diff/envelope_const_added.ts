// for ENVELOPE_CONST_ADDED
// old
export interface AskRequest extends Request { id: RequestId; method: "ask"; params: Asked }
// new
// expect MEMBER_MOVED AskRequest.id client=holds server=holds bindings=holds
// expect ENVELOPE_CONST_ADDED AskRequest.jsonrpc client=holds server=holds bindings=holds
// python
// | AskRequest(id=1, params=Asked(what="a"))
