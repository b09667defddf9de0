// for METHOD_DIRECTION_CHANGED
// old
export type ServerRequest = AskRequest;
export type ClientRequest = never_;
export interface never_ { none: "x" }
// new
export type InputRequest = AskRequest;
export type ClientRequest = never_;
export interface never_ { none: "x" }
// expect METHOD_DIRECTION_CHANGED ask client=used server=breaks bindings=holds
// expect DECLARATION_RENAMED InputRequest client=holds server=holds bindings=breaks
