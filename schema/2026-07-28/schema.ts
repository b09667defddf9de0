/**
 * Anything that JSON can express.
 * @category Common Types
 */
export type JSONValue =
  string | number | boolean | null | JSONObject | JSONArray;

/**
 * Maps names to JSON values.
 * @category Common Types
 */
export type JSONObject = { [key: string]: JSONValue };

/**
 * Ordered list of JSON values.
 * @category Common Types
 */
export type JSONArray = JSONValue[];

/**
 * Anything that may travel on the wire by itself.
 * @category JSON-RPC
 */
export type JSONRPCMessage =
  JSONRPCRequest | JSONRPCNotification | JSONRPCResponse;

/**
 * The protocol revision to which these declarations belong.
 * @internal
 */
export const LATEST_PROTOCOL_VERSION = "2026-07-28";

/**
 * Value of `jsonrpc` in every message.
 * @internal
 */
export const JSONRPC_VERSION = "2.0";

/**
 * Metadata by key; prefixed keys belong to whoever owns the prefix, and unknown ones are
 * tolerated.
 * @category Common Types
 */
export type MetaObject = Record<string, unknown>;

/**
 * Metadata of a client's request, which says all that the server needs to know about the client.
 * @category Common Types
 */
export interface RequestMetaObject extends MetaObject {
  /**
   * Asks for progress notifications that carry this token; absent means that none are wanted.
   */
  progressToken?: ProgressToken;

  /** Revision that the request follows; a server that lacks it answers with error -32022. */
  "io.modelcontextprotocol/protocolVersion": string;

  /**
   * Names the client software, for display and logs only; may be switched off by configuration.
   */
  "io.modelcontextprotocol/clientInfo"?: Implementation;

  /** Features that the client offers for this request; an empty object means none. */
  "io.modelcontextprotocol/clientCapabilities": ClientCapabilities;

  /**
   * Least severe level of log messages wanted for this request; absent means that none are sent.
   * @deprecated Since 2026-07-28; log to stderr (on stdio) or through OpenTelemetry instead.
   */
  "io.modelcontextprotocol/logLevel"?: LoggingLevel;
}

/**
 * Metadata of a notification.
 * @category Common Types
 */
export interface NotificationMetaObject extends MetaObject {
  /**
   * Id of the `subscriptions/listen` request on whose stream this is sent; absent on other
   * notifications.
   */
  "io.modelcontextprotocol/subscriptionId"?: RequestId;
}

/**
 * Metadata of a result.
 * @category Common Types
 */
export interface ResultMetaObject extends MetaObject {
  /**
   * Names the server software, for display and logs; neither behaviour nor security depends on it.
   */
  "io.modelcontextprotocol/serverInfo"?: Implementation;
}

/**
 * Links progress notifications to the request whose sender chose it; unique among that sender's
 * open requests.
 * @category Common Types
 */
export type ProgressToken = string | number;

/**
 * Marks a place in a paged list; only the server that made it can interpret it.
 * @category Common Types
 */
export type Cursor = string;

/**
 * Parameters that every client request has.
 * @category Common Types
 */
export interface RequestParams {
  /** Required, as it tells the protocol version and the client's capabilities. */
  _meta: RequestMetaObject;
}

/**
 * What all requests have in common, without the JSON-RPC envelope.
 * @internal
 */
export interface Request {
  /** Name of the operation, such as `tools/list`. */
  method: string;

  /** Named parameters of the operation; on a client's request they hold `_meta`. */
  params?: { [key: string]: any };
}

/**
 * Parameters that every notification can have.
 * @category Common Types
 */
export interface NotificationParams {
  /** Metadata kept apart from the parameters themselves. */
  _meta?: NotificationMetaObject;
}

/**
 * What all notifications have in common, without the JSON-RPC envelope; nobody answers them.
 * @internal
 */
export interface Notification {
  /** Name of the event, such as `notifications/progress`. */
  method: string;

  /** Named details of the event. */
  params?: { [key: string]: any };
}

/**
 * Kind of a result: `complete` is final, `input_required` asks for a retry with more input;
 * extensions may add others.
 * @category Common Types
 */
export type ResultType = "complete" | "input_required" | string;

/**
 * What all successful answers have in common; further members depend on the request.
 * @category Common Types
 */
export interface Result {
  /** Metadata kept apart from the outcome itself. */
  _meta?: ResultMetaObject;

  /**
   * Tells a final result from a request for more input; an older server that omits it means
   * `complete`.
   */
  resultType: ResultType;
  [key: string]: unknown;
}

/**
 * Tells what went wrong with a request.
 * @category Errors
 */
export interface Error {
  /** Integer that programs can act on, such as -32602. */
  code: number;

  /** One short sentence for people. */
  message: string;

  /** Further details, in a form that the sender of the error defines. */
  data?: unknown;
}

/**
 * Pairs a response with its request; chosen by the sender of the request and never null.
 * @category Common Types
 */
export type RequestId = string | number;

/**
 * A call that the other side has to answer.
 * @category JSON-RPC
 */
export interface JSONRPCRequest extends Request {
  jsonrpc: typeof JSONRPC_VERSION;

  /** Repeated in the response; differs from the ids of the sender's other open requests. */
  id: RequestId;
}

/**
 * A one-way message; it has no id and gets no answer, not even an error.
 * @category JSON-RPC
 */
export interface JSONRPCNotification extends Notification {
  jsonrpc: typeof JSONRPC_VERSION;
}

/**
 * The answer to a request that succeeded.
 * @category JSON-RPC
 */
export interface JSONRPCResultResponse {
  jsonrpc: typeof JSONRPC_VERSION;

  /** Id of the request that is answered. */
  id: RequestId;
  result: Result;
}

/**
 * The answer to a request that failed.
 * @category JSON-RPC
 */
export interface JSONRPCErrorResponse {
  jsonrpc: typeof JSONRPC_VERSION;

  /** Id of the request that failed; absent if it could not be read. */
  id?: RequestId;
  error: Error;
}

/**
 * The answer to a request, be it a result or an error.
 * @category JSON-RPC
 */
export type JSONRPCResponse = JSONRPCResultResponse | JSONRPCErrorResponse;

/** Sent when the received text is not JSON. */
export const PARSE_ERROR = -32700;

/** Sent when JSON arrives that is not a proper request, for instance without `method`. */
export const INVALID_REQUEST = -32600;

/** Sent when the receiver lacks the method or the feature to which it belongs. */
export const METHOD_NOT_FOUND = -32601;

/**
 * Sent when parameters are missing, of a wrong type or out of range, or name something unknown.
 */
export const INVALID_PARAMS = -32602;

/** Sent when the receiver itself fails in an unforeseen way. */
export const INTERNAL_ERROR = -32603;

/**
 * Error object for text that is not JSON.
 * @category Errors
 */
export interface ParseError extends Error {
  code: typeof PARSE_ERROR;
}

/**
 * Error object for JSON that is not a proper request.
 * @category Errors
 */
export interface InvalidRequestError extends Error {
  code: typeof INVALID_REQUEST;
}

/**
 * Error object for a method that the receiver does not offer.
 * @category Errors
 */
export interface MethodNotFoundError extends Error {
  code: typeof METHOD_NOT_FOUND;
}

/**
 * Error object for parameters that the receiver cannot accept.
 * @category Errors
 */
export interface InvalidParamsError extends Error {
  code: typeof INVALID_PARAMS;
}

/**
 * Error object for an unforeseen failure of the receiver.
 * @category Errors
 */
export interface InternalError extends Error {
  code: typeof INTERNAL_ERROR;
}

/**
 * Sent when HTTP headers are missing or malformed, or contradict the message body.
 * @category Errors
 */
export const HEADER_MISMATCH = -32020;

/**
 * Sent when a request needs a client capability that it does not declare.
 * @category Errors
 */
export const MISSING_REQUIRED_CLIENT_CAPABILITY = -32021;

/**
 * Sent when the server does not serve the protocol version that the request names.
 * @category Errors
 */
export const UNSUPPORTED_PROTOCOL_VERSION = -32022;

/**
 * Refusal of an HTTP request whose headers do not agree with its body.
 * @category Errors
 */
export interface HeaderMismatchError extends Omit<
  JSONRPCErrorResponse,
  "error"
> {
  error: Error & {
    code: typeof HEADER_MISMATCH;
  };
}

/**
 * Refusal of a request in a revision that the server does not serve.
 * @category Errors
 */
export interface UnsupportedProtocolVersionError extends Omit<
  JSONRPCErrorResponse,
  "error"
> {
  error: Error & {
    code: typeof UNSUPPORTED_PROTOCOL_VERSION;

    /** Lets the client try again in another revision. */
    data: {
      /** Revisions that the server serves. */
      supported: string[];

      /** Revision that the refused request named. */
      requested: string;
    };
  };
}

/**
 * Refusal of a request because of a client capability that it does not declare.
 * @category Errors
 */
export interface MissingRequiredClientCapabilityError extends Omit<
  JSONRPCErrorResponse,
  "error"
> {
  error: Error & {
    code: typeof MISSING_REQUIRED_CLIENT_CAPABILITY;
    data: {
      /** Only what was missing, in the form in which a client would declare it. */
      requiredCapabilities: ClientCapabilities;
    };
  };
}

/**
 * Confirms success where there is nothing to return.
 * @category Common Types
 */
export type EmptyResult = Result;

/**
 * One thing that a server wants from the client, without a JSON-RPC envelope.
 * @internal
 */
export type InputRequest =
  CreateMessageRequest | ListRootsRequest | ElicitRequest;

/**
 * What the client returns for one `InputRequest`, without a JSON-RPC envelope.
 * @internal
 */
export type InputResponse =
  CreateMessageResult | ListRootsResult | ElicitResult;

/**
 * What a server wants from the client, under keys that the server chooses.
 * @category Multi Round-Trip
 */
export interface InputRequests {
  [key: string]: InputRequest;
}

/**
 * What the client returns, each under the key of the entry in `inputRequests` that it answers.
 * @category Multi Round-Trip
 */
export interface InputResponses {
  [key: string]: InputResponse;
}

/**
 * Asks the client to retry the request with more input; has `inputRequests`, `requestState` or
 * both.
 * @category Multi Round-Trip
 */
export interface InputRequiredResult extends Result {
  /** What to answer before the retry; absent means that the client may retry at once. */
  inputRequests?: InputRequests;

  /**
   * Opaque text that the client repeats unchanged in the retry; absent means that none is
   * repeated.
   */
  requestState?: string;
}

/** Parameters of requests that a server may answer with an `InputRequiredResult`. */
export interface InputResponseRequestParams extends RequestParams {
  /** Answers to the `inputRequests` of the attempt before; absent on a first attempt. */
  inputResponses?: InputResponses;

  /** Copied from the `InputRequiredResult` of the attempt before; absent if that had none. */
  requestState?: string;
}

/**
 * Names the request to drop.
 * @category `notifications/cancelled`
 */
export interface CancelledNotificationParams extends NotificationParams {
  /** Id of a request that the client sent earlier and that is still open. */
  requestId: RequestId;

  /** Why, in words for people or a log. */
  reason?: string;
}

/**
 * Drops a request of the client; a server sends it only over stdio, to end a subscription.
 * @category `notifications/cancelled`
 */
export interface CancelledNotification extends JSONRPCNotification {
  method: "notifications/cancelled";
  params: CancelledNotificationParams;
}

/**
 * Asks which revisions and features the server has; a client may send it at any time or not at
 * all.
 * @category `server/discover`
 */
export interface DiscoverRequest extends JSONRPCRequest {
  method: "server/discover";
  params: RequestParams;
}

/**
 * Tells which revisions and features the server has.
 * @category `server/discover`
 */
export interface DiscoverResult extends CacheableResult {
  /** Revisions of which the client picks one for its further requests. */
  supportedVersions: string[];
  capabilities: ServerCapabilities;

  /** Free text on working with this server, which the client hands on to its host. */
  instructions?: string;
}

/**
 * JSON-RPC answer to `server/discover`.
 * @category `server/discover`
 */
export interface DiscoverResultResponse extends JSONRPCResultResponse {
  result: DiscoverResult;
}

/**
 * Optional features that a client offers for the one request that carries them; unknown keys are
 * ignored.
 * @category `server/discover`
 */
export interface ClientCapabilities {
  /** Settings of non-standard features, by name of the feature. */
  experimental?: { [key: string]: JSONObject };

  /**
   * Declared by a client that tells its roots on request.
   * @deprecated Since 2026-07-28; use tool arguments, resource URIs or server configuration
   * instead.
   */
  roots?: {};

  /**
   * Declared by a client that lets servers use its language model.
   * @deprecated Since 2026-07-28; call the API of a model provider directly instead.
   */
  sampling?: {
    /** Declared if `includeContext` may have values other than `none`. */
    context?: JSONObject;

    /** Declared if sampling requests may have `tools` and `toolChoice`. */
    tools?: JSONObject;
  };

  /** Declared by a client that can ask its user; an empty object stands for form mode only. */
  elicitation?: {
    /** Declared if the client can show forms. */
    form?: JSONObject;

    /** Declared if the client can send its user to a web page. */
    url?: JSONObject;
  };

  /**
   * Settings by extension identifier; an empty object declares an extension without settings.
   */
  extensions?: { [key: string]: JSONObject };
}

/**
 * Optional features that a server offers; unknown keys are ignored.
 * @category `server/discover`
 */
export interface ServerCapabilities {
  /** Settings of non-standard features, by name of the feature. */
  experimental?: { [key: string]: JSONObject };

  /**
   * Declared by a server that sends `notifications/message` for requests that carry a log level.
   * @deprecated Since 2026-07-28; log to stderr (on stdio) or through OpenTelemetry instead.
   */
  logging?: JSONObject;

  /** Declared by a server that answers `completion/complete`. */
  completions?: JSONObject;

  /** Declared by a server that has prompts, if only as an empty object. */
  prompts?: {
    /** Whether the server sends `notifications/prompts/list_changed`; absent means false. */
    listChanged?: boolean;
  };

  /** Declared by a server that has resources, if only as an empty object. */
  resources?: {
    /**
     * Whether the server honours `resourceSubscriptions` of `subscriptions/listen`; absent means
     * false.
     */
    subscribe?: boolean;

    /** Whether the server sends `notifications/resources/list_changed`; absent means false. */
    listChanged?: boolean;
  };

  /** Declared by a server that has tools, if only as an empty object. */
  tools?: {
    /** Whether the server sends `notifications/tools/list_changed`; absent means false. */
    listChanged?: boolean;
  };

  /**
   * Settings by extension identifier; an empty object declares an extension without settings.
   */
  extensions?: { [key: string]: JSONObject };
}

/**
 * An image that a user interface can show beside a name.
 * @category Common Types
 */
export interface Icon {
  /**
   * An `https:` URL of an image, or a `data:` URI that holds it in base64.
   * @format uri
   */
  src: string;

  /** Stated image type, such as `image/png`, for sources that do not tell it well. */
  mimeType?: string;

  /**
   * Entries such as `48x48`, or `any` for scalable images; absent means that every size will do.
   */
  sizes?: string[];

  /** Background for which the icon is drawn; absent means that both will do. */
  theme?: "light" | "dark";
}

/**
 * Adds `icons` to a declaration.
 * @internal
 */
export interface Icons {
  /** Images to choose from, for instance by size or theme. */
  icons?: Icon[];
}

/**
 * The two names that most declarations have, one for programs and one for people.
 * @internal
 */
export interface BaseMetadata {
  /** Identifier for programs; shown to people only where there is no `title`. */
  name: string;

  /** Label for people; absent means that `name` is shown. */
  title?: string;
}

/**
 * Names the software of the client or server; neither behaviour nor security depends on it.
 * @category `server/discover`
 */
export interface Implementation extends BaseMetadata, Icons {
  /** Version of the software, not of the protocol. */
  version: string;

  /** What the software does, for people. */
  description?: string;

  /**
   * Where to read more about the software.
   * @format uri
   */
  websiteUrl?: string;
}

/**
 * Names a request by its token and tells how much of it is done.
 * @category `notifications/progress`
 */
export interface ProgressNotificationParams extends NotificationParams {
  /** Token from the `_meta` of the request concerned. */
  progressToken: ProgressToken;

  /**
   * Amount done, fractions allowed; larger than in the notification before.
   * @TJS-type number
   */
  progress: number;

  /**
   * Amount at which the work is complete, in the unit of `progress`; absent means unknown.
   * @TJS-type number
   */
  total?: number;

  /** The current step in words, for people. */
  message?: string;
}

/**
 * Sent by a server to report how far the work on a client's request has come.
 * @category `notifications/progress`
 */
export interface ProgressNotification extends JSONRPCNotification {
  method: "notifications/progress";
  params: ProgressNotificationParams;
}

/**
 * Parameters that every request for a list can have.
 * @category Common Types
 */
export interface PaginatedRequestParams extends RequestParams {
  /** A `nextCursor` received earlier; absent asks for the first page. */
  cursor?: Cursor;
}

/**
 * What requests for lists have in common.
 * @internal
 */
export interface PaginatedRequest extends JSONRPCRequest {
  params: PaginatedRequestParams;
}

/**
 * What pages of lists have in common.
 * @internal
 */
export interface PaginatedResult extends Result {
  /** Cursor for the next page, even if it is an empty string; absent on the last page. */
  nextCursor?: Cursor;
}

/**
 * A result that the client may keep and use again for some time.
 * @internal
 */
export interface CacheableResult extends Result {
  /**
   * Milliseconds from arrival for which the result counts as fresh; 0 means stale at once.
   * @minimum 0
   */
  ttlMs: number;

  /**
   * `private` results are never used again under another authorization; `public` ones may be
   * shared.
   */
  cacheScope: "public" | "private";
}

/**
 * Asks for the resources, one page at a time.
 * @category `resources/list`
 */
export interface ListResourcesRequest extends PaginatedRequest {
  method: "resources/list";
}

/**
 * One page of the server's resources.
 * @category `resources/list`
 */
export interface ListResourcesResult extends PaginatedResult, CacheableResult {
  resources: Resource[];
}

/**
 * JSON-RPC answer to `resources/list`.
 * @category `resources/list`
 */
export interface ListResourcesResultResponse extends JSONRPCResultResponse {
  result: ListResourcesResult;
}

/**
 * Asks for the resource templates, one page at a time.
 * @category `resources/templates/list`
 */
export interface ListResourceTemplatesRequest extends PaginatedRequest {
  method: "resources/templates/list";
}

/**
 * One page of the server's resource templates.
 * @category `resources/templates/list`
 */
export interface ListResourceTemplatesResult
  extends PaginatedResult, CacheableResult {
  resourceTemplates: ResourceTemplate[];
}

/**
 * JSON-RPC answer to `resources/templates/list`.
 * @category `resources/templates/list`
 */
export interface ListResourceTemplatesResultResponse extends JSONRPCResultResponse {
  result: ListResourceTemplatesResult;
}

/**
 * Parameters of requests about a single resource.
 * @internal
 */
export interface ResourceRequestParams extends RequestParams {
  /**
   * Any scheme may occur, common ones such as `file:` as well as the server's own.
   * @format uri
   */
  uri: string;
}

/**
 * Names the resource to read.
 * @category `resources/read`
 */
export interface ReadResourceRequestParams
  extends ResourceRequestParams, InputResponseRequestParams {}

/**
 * Asks for the contents of a resource.
 * @category `resources/read`
 */
export interface ReadResourceRequest extends JSONRPCRequest {
  method: "resources/read";
  params: ReadResourceRequestParams;
}

/**
 * What a resource contains.
 * @category `resources/read`
 */
export interface ReadResourceResult extends CacheableResult {
  /**
   * Text or binary parts; a directory, for instance, may give several, each with its own URI.
   */
  contents: (TextResourceContents | BlobResourceContents)[];
}

/**
 * JSON-RPC answer to `resources/read`: the contents, or a wish for more input.
 * @category `resources/read`
 */
export interface ReadResourceResultResponse extends JSONRPCResultResponse {
  result: ReadResourceResult | InputRequiredResult;
}

/**
 * Tells on a listen stream that the set of resources has changed; the client may fetch the list
 * anew.
 * @category `notifications/resources/list_changed`
 */
export interface ResourceListChangedNotification extends JSONRPCNotification {
  method: "notifications/resources/list_changed";
  params?: NotificationParams;
}

/**
 * Chooses the notifications of a subscription; an absent member chooses nothing.
 * @category `subscriptions/listen`
 */
export interface SubscriptionFilter {
  /** Whether to send `notifications/tools/list_changed`; absent means false. */
  toolsListChanged?: boolean;

  /** Whether to send `notifications/prompts/list_changed`; absent means false. */
  promptsListChanged?: boolean;

  /** Whether to send `notifications/resources/list_changed`; absent means false. */
  resourcesListChanged?: boolean;

  /** URIs of the resources for which to send `notifications/resources/updated`. */
  resourceSubscriptions?: string[];
}

/**
 * Tells what the client wants to hear about.
 * @category `subscriptions/listen`
 */
export interface SubscriptionsListenRequestParams extends RequestParams {
  /** Nothing outside this filter is sent on the stream. */
  notifications: SubscriptionFilter;
}

/**
 * Opens a stream of change notifications; its id becomes the subscription's id.
 * @category `subscriptions/listen`
 */
export interface SubscriptionsListenRequest extends JSONRPCRequest {
  method: "subscriptions/listen";
  params: SubscriptionsListenRequestParams;
}

/**
 * Metadata of the result that closes a subscription.
 * @category `subscriptions/listen`
 */
export interface SubscriptionsListenResultMetaObject extends ResultMetaObject {
  /** Id of the listen request, of the same JSON type. */
  "io.modelcontextprotocol/subscriptionId": RequestId;
}

/**
 * Sent by a server that ends a subscription in good order; it has no data of its own.
 * @category `subscriptions/listen`
 */
export interface SubscriptionsListenResult extends Result {
  _meta: SubscriptionsListenResultMetaObject;
}

/**
 * JSON-RPC answer to `subscriptions/listen`, which comes only at the end of the stream.
 * @category `subscriptions/listen`
 */
export interface SubscriptionsListenResultResponse extends JSONRPCResultResponse {
  result: SubscriptionsListenResult;
}

/**
 * Tells what the server has agreed to send.
 * @category `notifications/subscriptions/acknowledged`
 */
export interface SubscriptionsAcknowledgedNotificationParams extends NotificationParams {
  /** The part of the client's filter that the server serves; the rest is left out. */
  notifications: SubscriptionFilter;
}

/**
 * First message of each subscription, sent by the server before any change notification.
 * @category `notifications/subscriptions/acknowledged`
 */
export interface SubscriptionsAcknowledgedNotification extends JSONRPCNotification {
  method: "notifications/subscriptions/acknowledged";
  params: SubscriptionsAcknowledgedNotificationParams;
}

/**
 * Names the resource that changed.
 * @category `notifications/resources/updated`
 */
export interface ResourceUpdatedNotificationParams extends NotificationParams {
  /**
   * The watched resource or one below it.
   * @format uri
   */
  uri: string;
}

/**
 * Tells on a listen stream that a resource named in the filter, or one below it, has changed.
 * @category `notifications/resources/updated`
 */
export interface ResourceUpdatedNotification extends JSONRPCNotification {
  method: "notifications/resources/updated";
  params: ResourceUpdatedNotificationParams;
}

/**
 * Something that a server lets clients read, such as a file or a record.
 * @category `resources/list`
 */
export interface Resource extends BaseMetadata, Icons {
  /**
   * Identifies the resource on its server, which alone gives the URI its meaning.
   * @format uri
   */
  uri: string;

  /** Explanation for models and people. */
  description?: string;

  /** Media type such as `text/plain`; absent means unknown. */
  mimeType?: string;

  /** Hints for the client on whom it is for and how much it matters. */
  annotations?: Annotations;

  /**
   * Length in bytes of what the resource holds, not of its base64 form; absent means unknown.
   */
  size?: number;

  _meta?: MetaObject;
}

/**
 * Describes a whole family of resources by a pattern for their URIs.
 * @category `resources/templates/list`
 */
export interface ResourceTemplate extends BaseMetadata, Icons {
  /**
   * RFC 6570 template from which a client builds resource URIs.
   * @format uri-template
   */
  uriTemplate: string;

  /** Explanation for models and people. */
  description?: string;

  /** Type that everything built from the template has; absent where types differ. */
  mimeType?: string;

  /** Hints for the client on whom it is for and how much it matters. */
  annotations?: Annotations;

  _meta?: MetaObject;
}

/**
 * What text and binary contents have in common.
 * @internal
 */
export interface ResourceContents {
  /**
   * The resource itself or a part of it.
   * @format uri
   */
  uri: string;

  /** Media type such as `text/plain`; absent means unknown. */
  mimeType?: string;

  _meta?: MetaObject;
}

/**
 * Contents that are text.
 * @category Content
 */
export interface TextResourceContents extends ResourceContents {
  /** The whole text; binary data goes into a `blob` instead. */
  text: string;
}

/**
 * Contents that are binary.
 * @category Content
 */
export interface BlobResourceContents extends ResourceContents {
  /**
   * The bytes in base64.
   * @format byte
   */
  blob: string;
}

/**
 * Asks for the prompts, one page at a time.
 * @category `prompts/list`
 */
export interface ListPromptsRequest extends PaginatedRequest {
  method: "prompts/list";
}

/**
 * One page of the server's prompts.
 * @category `prompts/list`
 */
export interface ListPromptsResult extends PaginatedResult, CacheableResult {
  prompts: Prompt[];
}

/**
 * JSON-RPC answer to `prompts/list`.
 * @category `prompts/list`
 */
export interface ListPromptsResultResponse extends JSONRPCResultResponse {
  result: ListPromptsResult;
}

/**
 * Names the prompt and gives its arguments.
 * @category `prompts/get`
 */
export interface GetPromptRequestParams extends InputResponseRequestParams {
  /** Name of a prompt from `prompts/list`. */
  name: string;

  /** Values by argument name, always strings. */
  arguments?: { [key: string]: string };
}

/**
 * Asks for a prompt with its arguments filled in.
 * @category `prompts/get`
 */
export interface GetPromptRequest extends JSONRPCRequest {
  method: "prompts/get";
  params: GetPromptRequestParams;
}

/**
 * The messages that a prompt has turned into.
 * @category `prompts/get`
 */
export interface GetPromptResult extends Result {
  /** What the prompt is for, in words for people. */
  description?: string;
  messages: PromptMessage[];
}

/**
 * JSON-RPC answer to `prompts/get`: the messages, or a wish for more input.
 * @category `prompts/get`
 */
export interface GetPromptResultResponse extends JSONRPCResultResponse {
  result: GetPromptResult | InputRequiredResult;
}

/**
 * A message template of the server, usually picked by the user.
 * @category `prompts/list`
 */
export interface Prompt extends BaseMetadata, Icons {
  /** What the prompt achieves. */
  description?: string;

  /** Values that the prompt can take; absent means none. */
  arguments?: PromptArgument[];

  _meta?: MetaObject;
}

/**
 * A value with which a prompt can be filled in.
 * @category `prompts/list`
 */
export interface PromptArgument extends BaseMetadata {
  /** What to enter. */
  description?: string;

  /** True if `prompts/get` fails without it; absent means optional. */
  required?: boolean;
}

/**
 * Who speaks: the person or the language model.
 * @category Common Types
 */
export type Role = "user" | "assistant";

/**
 * One turn of the conversation that a prompt yields.
 * @category `prompts/get`
 */
export interface PromptMessage {
  role: Role;
  content: ContentBlock;
}

/**
 * Content block that points to a resource of the server, which need not be in its list.
 * @category Content
 */
export interface ResourceLink extends Resource {
  type: "resource_link";
}

/**
 * Content block that holds a resource as a whole.
 * @category Content
 */
export interface EmbeddedResource {
  type: "resource";
  resource: TextResourceContents | BlobResourceContents;

  /** Hints for the client on whom it is for and how much it matters. */
  annotations?: Annotations;

  _meta?: MetaObject;
}

/**
 * Tells on a listen stream that the set of prompts has changed; the client may fetch the list
 * anew.
 * @category `notifications/prompts/list_changed`
 */
export interface PromptListChangedNotification extends JSONRPCNotification {
  method: "notifications/prompts/list_changed";
  params?: NotificationParams;
}

/**
 * Asks for the tools, one page at a time.
 * @category `tools/list`
 */
export interface ListToolsRequest extends PaginatedRequest {
  method: "tools/list";
}

/**
 * One page of the server's tools.
 * @category `tools/list`
 */
export interface ListToolsResult extends PaginatedResult, CacheableResult {
  tools: Tool[];
}

/**
 * JSON-RPC answer to `tools/list`.
 * @category `tools/list`
 */
export interface ListToolsResultResponse extends JSONRPCResultResponse {
  result: ListToolsResult;
}

/**
 * What a tool call has produced, failures of the tool included.
 * @category `tools/call`
 */
export interface CallToolResult extends Result {
  /** Blocks for the model; present even if there are none. */
  content: ContentBlock[];

  /** Any JSON value, null included; valid under the tool's `outputSchema`, if it has one. */
  structuredContent?: unknown;

  /**
   * True if the tool failed, with the reason in `content` for the model; absent means success.
   */
  isError?: boolean;
}

/**
 * JSON-RPC answer to `tools/call`: the outcome, or a wish for more input.
 * @category `tools/call`
 */
export interface CallToolResultResponse extends JSONRPCResultResponse {
  result: CallToolResult | InputRequiredResult;
}

/**
 * Names the tool and gives its arguments.
 * @category `tools/call`
 */
export interface CallToolRequestParams extends InputResponseRequestParams {
  /** Name of a tool from `tools/list`. */
  name: string;

  /** Object that fits the tool's `inputSchema`; absent means no arguments. */
  arguments?: { [key: string]: unknown };
}

/**
 * Runs a tool of the server.
 * @category `tools/call`
 */
export interface CallToolRequest extends JSONRPCRequest {
  method: "tools/call";
  params: CallToolRequestParams;
}

/**
 * Tells on a listen stream that the set of tools has changed; the client may fetch the list anew.
 * @category `notifications/tools/list_changed`
 */
export interface ToolListChangedNotification extends JSONRPCNotification {
  method: "notifications/tools/list_changed";
  params?: NotificationParams;
}

/**
 * Hints about what a tool does; a client trusts them only as far as it trusts the server.
 * @category `tools/list`
 */
export interface ToolAnnotations {
  /** Label for people, used if the tool itself has no `title`. */
  title?: string;

  /** Whether calls leave everything outside the tool as it was; absent means false. */
  readOnlyHint?: boolean;

  /**
   * Whether calls may delete or overwrite something; absent means true. Irrelevant for read-only
   * tools.
   */
  destructiveHint?: boolean;

  /**
   * Whether a second identical call changes nothing more; absent means false. Irrelevant for
   * read-only tools.
   */
  idempotentHint?: boolean;

  /** Whether calls may reach parties outside a closed system; absent means true. */
  openWorldHint?: boolean;
}

/**
 * A function of the server that a client may call.
 * @category `tools/list`
 */
export interface Tool extends BaseMetadata, Icons {
  /** Tells the model what the tool does and when to use it. */
  description?: string;

  /** JSON Schema of the arguments object. */
  inputSchema: {
    /** URI of the JSON Schema dialect; absent means 2020-12. */
    $schema?: string; type: "object"; [key: string]: unknown };

  /**
   * JSON Schema of `structuredContent` in results; absent means that its form is not promised.
   */
  outputSchema?: {
    /** URI of the JSON Schema dialect; absent means 2020-12. */
    $schema?: string; [key: string]: unknown };

  /** Hints about what calls of the tool do. */
  annotations?: ToolAnnotations;

  _meta?: MetaObject;
}

/**
 * Content of a log message.
 * @deprecated Since 2026-07-28; log to stderr (on stdio) or through OpenTelemetry instead.
 * @category `notifications/message`
 */
export interface LoggingMessageNotificationParams extends NotificationParams {
  level: LoggingLevel;

  /** Part of the server that logs; absent means unnamed. */
  logger?: string;

  /** The entry itself, as text or any other JSON value. */
  data: unknown;
}

/**
 * A log message about one request, sent on that request's own stream.
 * @deprecated Since 2026-07-28; log to stderr (on stdio) or through OpenTelemetry instead.
 * @category `notifications/message`
 */
export interface LoggingMessageNotification extends JSONRPCNotification {
  method: "notifications/message";
  params: LoggingMessageNotificationParams;
}

/**
 * Severity of a log message, rising from `debug` to `emergency`.
 * @deprecated Since 2026-07-28; log to stderr (on stdio) or through OpenTelemetry instead.
 * @category Common Types
 */
export type LoggingLevel =
  | "debug"
  | "info"
  | "notice"
  | "warning"
  | "error"
  | "critical"
  | "alert"
  | "emergency";

/**
 * The conversation and the server's wishes about how to continue it.
 * @deprecated Since 2026-07-28; call the API of a model provider directly instead.
 * @category `sampling/createMessage`
 */
export interface CreateMessageRequestParams {
  /** The conversation, oldest message first. */
  messages: SamplingMessage[];

  /** Wishes about the model, which the client alone picks. */
  modelPreferences?: ModelPreferences;

  /** System prompt that the server would like; the client may use another or none. */
  systemPrompt?: string;

  /**
   * Whose context to add; absent means `none`, and the other values need the capability
   * `sampling.context`.
   * @deprecated The values `thisServer` and `allServers` are deprecated; leave it out or send
   * `none`.
   */
  includeContext?: "none" | "thisServer" | "allServers";

  /**
   * How random the generation should be; the client may ignore it.
   * @TJS-type number
   */
  temperature?: number;

  /** Upper limit of tokens to generate; fewer may come. */
  maxTokens: number;

  /** Texts at which generation should end; the client may ignore them. */
  stopSequences?: string[];

  /** Extra settings that only the model's provider understands. */
  metadata?: JSONObject;

  /** Tools for the model in this request only; needs the capability `sampling.tools`. */
  tools?: Tool[];

  /** How the model may use the tools; needs the capability `sampling.tools`. */
  toolChoice?: ToolChoice;
}

/**
 * Rule for the model's use of tools in one request.
 * @deprecated Since 2026-07-28; call the API of a model provider directly instead.
 * @category `sampling/createMessage`
 */
export interface ToolChoice {
  /**
   * `auto` leaves it to the model, `required` demands at least one use, `none` forbids any; absent
   * means `auto`.
   */
  mode?: "auto" | "required" | "none";
}

/**
 * Asks, inside an `InputRequiredResult`, that the client's language model continue a conversation.
 * @deprecated Since 2026-07-28; call the API of a model provider directly instead.
 * @category `sampling/createMessage`
 */
export interface CreateMessageRequest {
  method: "sampling/createMessage";
  params: CreateMessageRequestParams;
}

/**
 * The message that the client's language model wrote.
 * @deprecated Since 2026-07-28; call the API of a model provider directly instead.
 * @category `sampling/createMessage`
 */
export interface CreateMessageResult extends SamplingMessage {
  /** Name of the model that wrote it. */
  model: string;

  /** Why generation ended; values outside this list may occur, and absent means unknown. */
  stopReason?: "endTurn" | "stopSequence" | "maxTokens" | "toolUse" | string;
}

/**
 * One turn of a conversation with a language model.
 * @deprecated Since 2026-07-28; call the API of a model provider directly instead.
 * @category `sampling/createMessage`
 */
export interface SamplingMessage {
  role: Role;

  /** One block or a list of blocks. */
  content: SamplingMessageContentBlock | SamplingMessageContentBlock[];
  _meta?: MetaObject;
}

/**
 * What a message to or from the client's language model can hold.
 * @deprecated Since 2026-07-28; call the API of a model provider directly instead.
 * @category `sampling/createMessage`
 */
export type SamplingMessageContentBlock =
  | TextContent
  | ImageContent
  | AudioContent
  | ToolUseContent
  | ToolResultContent;

/**
 * Hints for the client about a resource or content block.
 * @category Common Types
 */
export interface Annotations {
  /** Who should see it: people, the model or both. */
  audience?: Role[];

  /**
   * From 0 for something that can be dropped to 1 for something needed.
   * @TJS-type number
   * @minimum 0
   * @maximum 1
   */
  priority?: number;

  /** Time of the latest change, in ISO 8601 form. */
  lastModified?: string;
}

/**
 * One piece of what a prompt or a tool returns.
 * @category Content
 */
export type ContentBlock =
  TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource;

/**
 * Content block with plain text.
 * @category Content
 */
export interface TextContent {
  type: "text";

  text: string;

  /** Hints for the client on whom it is for and how much it matters. */
  annotations?: Annotations;

  _meta?: MetaObject;
}

/**
 * Content block with a picture.
 * @category Content
 */
export interface ImageContent {
  type: "image";

  /**
   * The image file in base64.
   * @format byte
   */
  data: string;

  /** Image type such as `image/png`. */
  mimeType: string;

  /** Hints for the client on whom it is for and how much it matters. */
  annotations?: Annotations;

  _meta?: MetaObject;
}

/**
 * Content block with sound.
 * @category Content
 */
export interface AudioContent {
  type: "audio";

  /**
   * The sound file in base64.
   * @format byte
   */
  data: string;

  /** Sound type such as `audio/wav`. */
  mimeType: string;

  /** Hints for the client on whom it is for and how much it matters. */
  annotations?: Annotations;

  _meta?: MetaObject;
}

/**
 * Asks for a tool to be run; found in messages of the assistant.
 * @deprecated Since 2026-07-28; call the API of a model provider directly instead.
 * @category `sampling/createMessage`
 */
export interface ToolUseContent {
  type: "tool_use";

  /** Tells this use from others; the result repeats it as `toolUseId`. */
  id: string;

  /** One of the tools given in the request. */
  name: string;

  /** Arguments that fit the tool's `inputSchema`. */
  input: { [key: string]: unknown };

  /** Extra metadata, kept when the block is sent on in later requests. */
  _meta?: MetaObject;
}

/**
 * Outcome of a tool use, in a user message that has only such blocks.
 * @deprecated Since 2026-07-28; call the API of a model provider directly instead.
 * @category `sampling/createMessage`
 */
export interface ToolResultContent {
  type: "tool_result";

  /** The `id` of the earlier `tool_use` block that this answers. */
  toolUseId: string;

  /** Blocks for the model, of the same kinds as in a `tools/call` result. */
  content: ContentBlock[];

  /** Any JSON value; valid under the tool's `outputSchema`, if it has one. */
  structuredContent?: unknown;

  /** True if the tool failed; absent means success. */
  isError?: boolean;

  /** Extra metadata, kept when the block is sent on in later requests. */
  _meta?: MetaObject;
}

/**
 * Wishes of a server about the model, none of which binds the client.
 * @deprecated Since 2026-07-28; call the API of a model provider directly instead.
 * @category `sampling/createMessage`
 */
export interface ModelPreferences {
  /** Models by name, most wanted first; they count before the priorities. */
  hints?: ModelHint[];

  /**
   * Weight of a low price, from 0 for none to 1 for the most.
   * @TJS-type number
   * @minimum 0
   * @maximum 1
   */
  costPriority?: number;

  /**
   * Weight of a quick answer, from 0 for none to 1 for the most.
   * @TJS-type number
   * @minimum 0
   * @maximum 1
   */
  speedPriority?: number;

  /**
   * Weight of the model's abilities, from 0 for none to 1 for the most.
   * @TJS-type number
   * @minimum 0
   * @maximum 1
   */
  intelligencePriority?: number;
}

/**
 * Points to a model or a family of models; the client may know further keys.
 * @deprecated Since 2026-07-28; call the API of a model provider directly instead.
 * @category `sampling/createMessage`
 */
export interface ModelHint {
  /**
   * Fits every model whose name contains it; a client may take a comparable one from another
   * provider.
   */
  name?: string;
}

/**
 * Tells which argument is being typed and what is there so far.
 * @category `completion/complete`
 */
export interface CompleteRequestParams extends RequestParams {
  /** The prompt or resource template that has the argument. */
  ref: PromptReference | ResourceTemplateReference;

  /** The argument being typed. */
  argument: {
    /** Argument of the prompt, or variable of the URI template. */
    name: string;

    /** What has been typed so far. */
    value: string;
  };

  /** What the server may take into account. */
  context?: {
    /** Values of other arguments that are already decided, by name. */
    arguments?: { [key: string]: string };
  };
}

/**
 * Asks for suggestions while the user types an argument.
 * @category `completion/complete`
 */
export interface CompleteRequest extends JSONRPCRequest {
  method: "completion/complete";
  params: CompleteRequestParams;
}

/**
 * Suggestions for an argument.
 * @category `completion/complete`
 */
export interface CompleteResult extends Result {
  completion: {
    /**
     * At most 100, best match first.
     * @maxItems 100
     */
    values: string[];

    /** Number of all matches, sent or not; absent means unknown. */
    total?: number;

    /** True if some matches were not sent. */
    hasMore?: boolean;
  };
}

/**
 * JSON-RPC answer to `completion/complete`.
 * @category `completion/complete`
 */
export interface CompleteResultResponse extends JSONRPCResultResponse {
  result: CompleteResult;
}

/**
 * Points to a resource or resource template.
 * @category `completion/complete`
 */
export interface ResourceTemplateReference {
  type: "ref/resource";

  /**
   * A resource URI or an RFC 6570 template.
   * @format uri-template
   */
  uri: string;
}

/**
 * Points to a prompt by its name.
 * @category `completion/complete`
 */
export interface PromptReference extends BaseMetadata {
  type: "ref/prompt";
}

/**
 * Asks, inside an `InputRequiredResult`, which parts of the file system are open to the server.
 * @deprecated Since 2026-07-28; use tool arguments, resource URIs or server configuration instead.
 * @category `roots/list`
 */
export interface ListRootsRequest {
  method: "roots/list";
  params?: {
    _meta?: MetaObject;
  };
}

/**
 * The client's roots.
 * @deprecated Since 2026-07-28; use tool arguments, resource URIs or server configuration instead.
 * @category `roots/list`
 */
export interface ListRootsResult {
  roots: Root[];
}

/**
 * One place in the file system that a client opens to servers.
 * @deprecated Since 2026-07-28; use tool arguments, resource URIs or server configuration instead.
 * @category `roots/list`
 */
export interface Root {
  /**
   * Starts with `file://`; no two roots of a client share it.
   * @format uri
   */
  uri: string;

  /** Label for people. */
  name?: string;

  _meta?: MetaObject;
}

/**
 * Describes a form that the client shows to the user.
 * @category `elicitation/create`
 */
export interface ElicitRequestFormParams {
  /** Absent means `form`. */
  mode?: "form";

  /** Tells the user what is asked for and why. */
  message: string;

  /** JSON Schema of the form: a flat object with one property for each field. */
  requestedSchema: {
    /** URI of the JSON Schema dialect; absent means 2020-12. */
    $schema?: string;
    type: "object";

    /** The fields by name. */
    properties: {
      [key: string]: PrimitiveSchemaDefinition;
    };

    /** Names of the fields that the user has to fill in; absent means none. */
    required?: string[];
  };
}

/**
 * Describes a web page to which the client sends the user; the outcome shows when the request is
 * retried.
 * @category `elicitation/create`
 */
export interface ElicitRequestURLParams {
  mode: "url";

  /** Tells the user why the page should be visited. */
  message: string;

  /**
   * Page to open with the user's consent; the client does not fetch it on its own.
   * @format uri
   */
  url: string;
}

/**
 * Parameters of a form or of a visit to a web page.
 * @category `elicitation/create`
 */
export type ElicitRequestParams =
  ElicitRequestFormParams | ElicitRequestURLParams;

/**
 * Asks the user something through the client, inside an `InputRequiredResult`.
 * @category `elicitation/create`
 */
export interface ElicitRequest {
  method: "elicitation/create";
  params: ElicitRequestParams;
}

/**
 * One field of a form.
 * @category `elicitation/create`
 */
export type PrimitiveSchemaDefinition =
  StringSchema | NumberSchema | BooleanSchema | EnumSchema;

/**
 * Field for text.
 * @category `elicitation/create`
 */
export interface StringSchema {
  type: "string";
  title?: string;
  description?: string;

  /** Counted in characters. */
  minLength?: number;

  /** Counted in characters. */
  maxLength?: number;

  /** What the text has to be; absent means any text. */
  format?: "email" | "uri" | "date" | "date-time";

  /** Value with which the field starts. */
  default?: string;
}

/**
 * Field for a number, whole or with a fraction.
 * @category `elicitation/create`
 */
export interface NumberSchema {
  type: "number" | "integer";
  title?: string;
  description?: string;

  /**
   * Least number allowed.
   * @TJS-type number
   */
  minimum?: number;

  /**
   * Greatest number allowed.
   * @TJS-type number
   */
  maximum?: number;

  /**
   * Value with which the field starts.
   * @TJS-type number
   */
  default?: number;
}

/**
 * Field for yes or no.
 * @category `elicitation/create`
 */
export interface BooleanSchema {
  type: "boolean";
  title?: string;
  description?: string;

  /** Value with which the field starts. */
  default?: boolean;
}

/**
 * Field for one value out of several, each shown as it is.
 * @category `elicitation/create`
 */
export interface UntitledSingleSelectEnumSchema {
  type: "string";
  title?: string;
  description?: string;

  /** Values to pick one from. */
  enum: string[];

  /** Value with which the field starts. */
  default?: string;
}

/**
 * Field for one value out of several, each with a label.
 * @category `elicitation/create`
 */
export interface TitledSingleSelectEnumSchema {
  type: "string";
  title?: string;
  description?: string;

  /** Values to pick one from, with their labels. */
  oneOf: Array<{
    /** Value to return if this one is picked. */
    const: string;

    /** What the user sees in place of `const`. */
    title: string;
  }>;

  /** Value with which the field starts. */
  default?: string;
}

/**
 * Field for one value out of several.
 * @category `elicitation/create`
 */
export type SingleSelectEnumSchema =
  UntitledSingleSelectEnumSchema | TitledSingleSelectEnumSchema;

/**
 * Field for any number of values out of several, each shown as it is.
 * @category `elicitation/create`
 */
export interface UntitledMultiSelectEnumSchema {
  type: "array";
  title?: string;
  description?: string;

  /** The user picks at least this many values. */
  minItems?: number;

  /** The user picks at most this many values. */
  maxItems?: number;
  items: {
    type: "string";

    /** Values to pick from. */
    enum: string[];
  };

  /** Values that are chosen at the start. */
  default?: string[];
}

/**
 * Field for any number of values out of several, each with a label.
 * @category `elicitation/create`
 */
export interface TitledMultiSelectEnumSchema {
  type: "array";
  title?: string;
  description?: string;

  /** The user picks at least this many values. */
  minItems?: number;

  /** The user picks at most this many values. */
  maxItems?: number;
  items: {
    /** Values to pick from, with their labels. */
    anyOf: Array<{
      /** Value to return if this one is picked. */
      const: string;

      /** What the user sees in place of `const`. */
      title: string;
    }>;
  };

  /** Values that are chosen at the start. */
  default?: string[];
}

/**
 * Field for any number of values out of several.
 * @category `elicitation/create`
 */
export type MultiSelectEnumSchema =
  UntitledMultiSelectEnumSchema | TitledMultiSelectEnumSchema;

/**
 * Older way to give labels to a choice of one; new servers use `oneOf` instead.
 * @category `elicitation/create`
 */
export interface LegacyTitledEnumSchema {
  type: "string";
  title?: string;
  description?: string;

  /** Values to pick one from. */
  enum: string[];

  /**
   * Labels shown in place of `enum`, in the same order; absent means that the values are shown.
   */
  enumNames?: string[];

  /** Value with which the field starts. */
  default?: string;
}

/**
 * Field in which the user picks from given values.
 * @category `elicitation/create`
 */
export type EnumSchema =
  SingleSelectEnumSchema | MultiSelectEnumSchema | LegacyTitledEnumSchema;

/**
 * What the user did with a form or with a request to visit a web page.
 * @category `elicitation/create`
 */
export interface ElicitResult {
  /**
   * `accept` is a yes, `decline` a clear no, and `cancel` means that the user left without
   * choosing.
   */
  action: "accept" | "decline" | "cancel";

  /** Entries of an accepted form, by field name; absent in all other cases. */
  content?: { [key: string]: string | number | boolean | string[] };
}

/**
 * Any request that a client sends.
 * @internal
 */
export type ClientRequest =
  | DiscoverRequest
  | CompleteRequest
  | GetPromptRequest
  | ListPromptsRequest
  | ListResourcesRequest
  | ListResourceTemplatesRequest
  | ReadResourceRequest
  | SubscriptionsListenRequest
  | CallToolRequest
  | ListToolsRequest;

/**
 * Any notification that a client sends.
 * @internal
 */
export type ClientNotification = CancelledNotification;

/**
 * Any result that a client sends.
 * @internal
 */
export type ClientResult = EmptyResult;

/**
 * Any notification that a server sends.
 * @internal
 */
export type ServerNotification =
  | CancelledNotification
  | ProgressNotification
  | LoggingMessageNotification
  | ResourceUpdatedNotification
  | ResourceListChangedNotification
  | ToolListChangedNotification
  | PromptListChangedNotification
  | SubscriptionsAcknowledgedNotification;

/**
 * Any result that a server sends.
 * @internal
 */
export type ServerResult =
  | EmptyResult
  | DiscoverResult
  | CompleteResult
  | GetPromptResult
  | ListPromptsResult
  | ListResourceTemplatesResult
  | ListResourcesResult
  | ReadResourceResult
  | SubscriptionsListenResult
  | CallToolResult
  | ListToolsResult
  | InputRequiredResult;
