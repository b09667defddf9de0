import type {
  CallToolResult,
  JSONRPCRequest,
  JSONRPCNotification,
  PaginatedRequest,
  Result,
} from "core";
import type { Note, Position } from "./common";

/** Asks for the place of a call in the queue. */
export type GetPositionRequest = JSONRPCRequest & {
  method: "acme/position";
  params: { ticket: string };
};

/** The place of a call. */
export type GetPositionResult = Result & Position & { resultType: "complete" };

/** The call waits in a queue. */
export type QueuedResult = Result & { resultType: "queued"; ticket: string; note: Note };

/** A call has moved up. */
export type MovedNotification = JSONRPCNotification & {
  method: "notifications/acme/moved";
  params: { ticket: string; position: Position };
};

/** How a tool is queued. */
export interface QueueHints {
  priority?: number;
}

/** Asks which tools have calls that wait, page by page. */
export interface ListWaitingRequest extends PaginatedRequest {
  method: "acme/waiting";
}

/** A call that waited is done. */
export interface DoneNotification {
  method: "notifications/acme/done";
  params: CallToolResult;
}
