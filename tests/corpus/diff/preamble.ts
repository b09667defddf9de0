// What every case has, unless it declares it itself: one request `ask` of the client, whose params
// (`Asked`) travel to the server, and whose result (`Told`, as `AskResult.told`) travels back.

export type RequestId = string | number;

export interface Request {
  method: string;
  params?: { [key: string]: unknown };
}

export interface JSONRPCRequest extends Request {
  jsonrpc: "2.0";
  id: RequestId;
}

export interface JSONRPCNotification {
  jsonrpc: "2.0";
  method: string;
  params?: { [key: string]: unknown };
}

export interface Result {
  [key: string]: unknown;
}

export interface JSONRPCResponse {
  jsonrpc: "2.0";
  id: RequestId;
  result: Result;
}

export type JSONRPCMessage = JSONRPCRequest | JSONRPCNotification | JSONRPCResponse;

export interface AskRequest extends JSONRPCRequest {
  method: "ask";
  params: Asked;
}

export interface AskResult extends Result {
  told: Told;
}

export type ClientRequest = AskRequest;

export type ServerResult = AskResult;

export interface Asked {
  what: string;
}

export interface Told {
  that: string;
}
