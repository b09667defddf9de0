// for ENVELOPE_MEMBER_REMOVED
// old
// new
export interface AskRequest extends Request { method: "ask"; params: Asked }
// expect ENVELOPE_CONST_REMOVED AskRequest.jsonrpc client=holds server=holds bindings=used
// expect ENVELOPE_MEMBER_REMOVED AskRequest.id client=holds server=holds bindings=breaks
// expect DECLARATION_REBASED AskRequest client=holds server=holds bindings=holds
// python
// | AskRequest(id=1, params=Asked(what="a"))
