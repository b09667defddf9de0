// for ENVELOPE_NOT_COMPARED
// old
export type JSONRPCMessage = JSONRPCRequest | JSONRPCNotification | JSONRPCResponse;
// new
export type JSONRPCMessage = JSONRPCRequest | JSONRPCResponse;
// expect ARM_REMOVED JSONRPCMessage client=used server=used bindings=used
// expect ENVELOPE_NOT_COMPARED the_envelope_of_notifications client=used server=used bindings=holds
// python
// | AskRequest(id=1, params=Asked(what="a"))
