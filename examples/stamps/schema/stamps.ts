import type { JSONRPCRequest, JSONRPCNotification, NotificationParams, Result, RequestMetaObject } from "./core.js";
import type { Mark } from "./shared.js";

/** Asks for a document that was stamped. */
export type GetStampRequest = JSONRPCRequest & {
  method: "stamps/get";
  params: { stampId: string };
};

/** A stamped document. */
export interface GetStampResult extends Result {
  resultType: "complete";
  text: string;
  marks: Mark[];
}

/** Stands in for the result of a tool that is waiting for its stamp. */
export interface StampedResult extends Result {
  resultType: "stamped";
  stampId: string;
}

/** A document was stamped once more. */
export interface StampedNotification extends JSONRPCNotification {
  method: "notifications/stamps/stamped";
  params: StampedNotificationParams;
}

export interface StampedNotificationParams extends NotificationParams {
  stampId: string;
  mark: Mark;
}

/** What a subscription may ask for beside lists and resources. */
export interface StampSubscriptions {
  /** The stamps to be told of. */
  stampIds?: string[];
}
