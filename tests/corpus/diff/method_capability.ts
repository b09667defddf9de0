// for METHOD_CAPABILITY_CHANGED
// old
// new
export interface ServerCapabilities { ask?: object }
// expect METHOD_CAPABILITY_CHANGED ask client=holds server=holds bindings=holds
// expect DECLARATION_ADDED ServerCapabilities client=holds server=holds bindings=holds
// python
// | AskRequest(id=1, params=Asked(what="a"))
