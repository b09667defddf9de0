// for METHOD_DIRECTION_CHANGED
// old
// new
export type ServerRequest = AskRequest;
// expect METHOD_DIRECTION_CHANGED ask client=used server=holds bindings=holds
// expect DECLARATION_ADDED ServerRequest client=holds server=holds bindings=holds
// python
// | AskRequest(id=1, params=Asked(what="a"))
