"""Declarations that made-up revisions add to the newest schema, and members that they replace."""

from __future__ import annotations

from typing import Final

__all__ = [
    "CALL_RESULT",
    "CHECKSUM",
    "DATA_MODEL",
    "DIGESTS",
    "OUTPUTS",
    "OUTPUT_SCHEMA",
    "PICKING",
    "SELECTOR",
    "VIDEO_CONTENT",
]

CHECKSUM: Final = """
/** Parameters that name a resource to sum up. */
export interface ChecksumRequestParams extends RequestParams {
  uri: string;
}

/** Asks for the checksum of a resource. */
export interface ChecksumRequest extends JSONRPCRequest {
  method: "checksum/get";
  params: ChecksumRequestParams;
}

/** The checksum of a resource. */
export interface ChecksumResult extends Result {
  sum: string;
}

export interface ChecksumResultResponse extends JSONRPCResultResponse {
  result: ChecksumResult;
}
"""

VIDEO_CONTENT: Final = """
/** Content block with moving pictures. */
export interface VideoContent {
  type: "video";
  data: string;
  mimeType: string;
}

/** Sent when a client asks too often. */
export const RATE_LIMITED = -32023;
"""

CALL_RESULT: Final = """  /** Blocks for the model; present even if there are none. */
  content: ContentBlock[];

  /** Any JSON value, null included; valid under the tool's `outputSchema`, if it has one. */
  structuredContent?: unknown;
"""

OUTPUTS: Final = """
/** What a tool gives for programs, beside what it gives for models. */
export interface JsonOutput {
  type: "json";
  value: unknown;
}

/** One item of what a tool gives. */
export type ToolOutput = ContentBlock | JsonOutput;
"""

SELECTOR: Final = """
/** Says for whom a form of a tool's result is, and which of the two forms it has. */
export interface OutputSelector {
  audience: "assistant" | "user" | "programmatic" | string;
  format: "content" | "structured";
}

export interface ContentVariant extends OutputSelector {
  format: "content";
}

export interface StructuredVariant extends OutputSelector {
  format: "structured";
  schema?: { $schema?: string; [key: string]: unknown };
}

/** A form in which a tool can give its result. */
export type OutputVariant = ContentVariant | StructuredVariant;

export interface ContentOutput extends OutputSelector {
  format: "content";
  content: ContentBlock[];
}

export interface StructuredOutput extends OutputSelector {
  format: "structured";
  structuredContent: unknown;
}

/** A result of a tool in one form. */
export type ToolOutput = ContentOutput | StructuredOutput;
"""

PICKING: Final = """
/** Parameters of a request for files. */
export interface PickFilesRequestParams {
  _meta?: MetaObject;
  prompt: string;
}

/** Lets the user pick files of the client. */
export interface PickFilesRequest {
  method: "files/pick";
  params: PickFilesRequestParams;
}

/** The files that the user has picked. */
export interface PickFilesResult {
  files: string[];
}

/** Parameters of a notification of an event. */
export interface EventOccurredNotificationParams extends NotificationParams {
  topic: string;
}

/** Tells on a listen stream that something of a topic has happened. */
export interface EventOccurredNotification extends JSONRPCNotification {
  method: "notifications/events/occurred";
  params: EventOccurredNotificationParams;
}
"""

OUTPUT_SCHEMA: Final = """  outputSchema?: {
    /** URI of the JSON Schema dialect; absent means 2020-12. */
    $schema?: string; [key: string]: unknown };
"""

DIGESTS: Final = """
/** A method whose result has a digest; extensions add others. */
export type DigestMethod =
  | "server/discover"
  | "tools/list"
  | "prompts/list"
  | "resources/list"
  | "resources/templates/list"
  | (string & {});

/** The digests that a client works from, by the methods which gave them. */
export type KnownDigests = { [method in DigestMethod]?: string };

/** Says which lists are stale, in the data of an error. */
export interface DigestMismatchErrorData {
  staleDigests: DigestMethod[];
}
"""

DATA_MODEL: Final = """
/** A message of the data model; its transport adds what links it to others. */
export interface MCPMessage<P = unknown, M extends Metadata = Metadata> {
  protocolVersion: string | undefined;
  method: string | undefined;
  metadata: M;
  payload: P;
}

export interface MessageMetadata {
  meta?: MetaObject;
}

export interface ResultMetadata {
  meta?: ResultMetaObject;
}

export type ErrorMetadata = Record<string, never>;

export type Metadata = MessageMetadata | ResultMetadata | ErrorMetadata;

/** @internal */
export interface MCPRequest<P = unknown> extends MCPMessage<P, MessageMetadata> {
  protocolVersion: string;
  method: string;
  metadata: MessageMetadata & { meta: RequestMetaObject };
}

/** @internal */
export interface MCPNotification<P = unknown> extends MCPMessage<P, MessageMetadata> {
  protocolVersion: string;
  method: string;
}

export interface MCPResponse<P extends Result = Result> extends MCPMessage<P, ResultMetadata> {
  protocolVersion: string;
  method: string;
}

export interface MCPErrorResponse<P extends Error = Error> extends MCPMessage<P, ErrorMetadata> {}
"""
