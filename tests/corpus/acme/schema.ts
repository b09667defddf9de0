import type { JSONRPCRequest, JSONRPCNotification, Result } from "core";
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
