"""Events as an extension, close to the types of SEP-3415: its schema, and the rows beside it."""

from __future__ import annotations

from typing import Final

__all__ = ["ROWS", "SCHEMA"]

SCHEMA: Final = """
import type {
  JSONRPCNotification,
  JSONRPCRequest,
  NotificationParams,
  PaginatedRequest,
  PaginatedResult,
  Result,
  RequestParams,
} from "./core.js";

/** A kind of event, which a client can subscribe to. */
export interface EventType {
  name: string;
  description?: string;
  delivery: ("poll" | "push" | "webhook")[];
  inputSchema: { [key: string]: unknown };
  payloadSchema: { [key: string]: unknown };
  _meta?: { [key: string]: unknown };
}

export interface ListEventsRequest extends PaginatedRequest {
  method: "events/list";
}

export interface ListEventsResult extends PaginatedResult {
  events: EventType[];
}

/** Something that happened. */
export interface EventOccurrence {
  eventId: string;
  name: string;
  timestamp: string;
  data: { [key: string]: unknown };
  cursor?: string | null;
}

/** Names a kind of event, its arguments and the place to go on from. */
export interface EventSubscriptionParams extends RequestParams {
  name: string;
  arguments?: { [key: string]: unknown };
  cursor: string | null;
  /** @minimum 0 */
  maxAgeMs?: number;
}

export interface PollEventsRequest extends JSONRPCRequest {
  method: "events/poll";
  params: PollEventsRequestParams;
}

export interface PollEventsRequestParams extends EventSubscriptionParams {
  /** @minimum 1 */
  maxEvents?: number;
}

export interface PollEventsResult extends Result {
  events: EventOccurrence[];
  cursor: string | null;
  truncated: boolean;
  hasMore: boolean;
  nextPollMs: number;
}

export interface StreamEventsRequest extends JSONRPCRequest {
  method: "events/stream";
  params: EventSubscriptionParams;
}

export interface StreamEventsResult extends Result {}

export interface EventNotification extends JSONRPCNotification {
  method: "notifications/events/event";
  params: EventNotificationParams;
}

export interface EventNotificationParams extends NotificationParams, EventOccurrence {}

export interface EventsListChangedNotification extends JSONRPCNotification {
  method: "notifications/events/list_changed";
  params?: NotificationParams;
}

/** The member that a subscription's filter gets. */
export interface EventSubscriptions {
  eventsListChanged?: boolean;
}
"""

_HEAD: Final = 'revisions = ["events@1"]\npage = "seps/3415"\nwhy = "SEP-3415 says so."\n'
_TO_SERVER: Final = ("events/list", "events/poll", "events/stream")
_TO_CLIENT: Final = ("notifications/events/event", "notifications/events/list_changed")

ROWS: Final = "\n".join(
    [
        f'[[extension]]\n{_HEAD}path = "events"\nidentifier = "io.modelcontextprotocol/events"',
        'core = ["2026-07-28"]\nroles = ["client", "server"]\nstage = "experimental"\n',
        f'[[member]]\n{_HEAD}path = "SubscriptionFilter.eventsListChanged"',
        'type = "EventSubscriptions.eventsListChanged"\n',
        *(
            f'[[method]]\n{_HEAD}path = "{method}"\ndirection = "{way}"\n'
            for way, methods in (("client-to-server", _TO_SERVER), ("server-to-client", _TO_CLIENT))
            for method in methods
        ),
    ]
)
