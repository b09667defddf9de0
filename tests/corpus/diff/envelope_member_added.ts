// for ENVELOPE_MEMBER_ADDED
// old
export interface AskRequest extends Request { method: "ask"; params: Asked }
// new
// expect ENVELOPE_CONST_ADDED AskRequest.jsonrpc client=holds server=holds bindings=holds
// expect ENVELOPE_MEMBER_ADDED AskRequest.id client=holds server=holds bindings=breaks
// expect DECLARATION_REBASED AskRequest client=holds server=holds bindings=holds
// python
// | AskRequest(params=Asked(what="a"))
