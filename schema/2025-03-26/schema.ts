/** Anything that may travel on the wire by itself, batches included. */
export type JSONRPCMessage =
  | JSONRPCRequest
  | JSONRPCNotification
  | JSONRPCBatchRequest
  | JSONRPCResponse
  | JSONRPCError
  | JSONRPCBatchResponse;

/** Several requests and notifications sent together as one JSON array. */
export type JSONRPCBatchRequest = (JSONRPCRequest | JSONRPCNotification)[];

/** The answers to a batch, sent together as one JSON array. */
export type JSONRPCBatchResponse = (JSONRPCResponse | JSONRPCError)[];

/** The protocol revision to which these declarations belong. */
export const LATEST_PROTOCOL_VERSION = "2025-03-26";

/** Value of `jsonrpc` in every message. */
export const JSONRPC_VERSION = "2.0";

/**
 * Links progress notifications to the request whose sender chose it; unique among that sender's
 * open requests.
 */
export type ProgressToken = string | number;

/** Marks a place in a paged list; only the server that made it can interpret it. */
export type Cursor = string;

/** What all requests have in common, without the JSON-RPC envelope. */
export interface Request {
  /** Name of the operation, such as `tools/list`. */
  method: string;

  /** Named parameters of the operation. */
  params?: {
    /** Metadata kept apart from the parameters themselves. */
    _meta?: {
      /**
       * Asks for progress notifications that carry this token; absent means that none are wanted.
       */
      progressToken?: ProgressToken;
    };
    [key: string]: unknown;
  };
}

/**
 * What all notifications have in common, without the JSON-RPC envelope; nobody answers them.
 */
export interface Notification {
  /** Name of the event, such as `notifications/progress`. */
  method: string;

  /** Named details of the event. */
  params?: {
    /** Metadata kept apart from the parameters themselves. */
    _meta?: { [key: string]: unknown };
    [key: string]: unknown;
  };
}

/** What all successful answers have in common; further members depend on the request. */
export interface Result {
  /** Metadata kept apart from the outcome itself. */
  _meta?: { [key: string]: unknown };
  [key: string]: unknown;
}

/** Pairs a response with its request; chosen by the sender of the request and never null. */
export type RequestId = string | number;

/** A call that the other side has to answer. */
export interface JSONRPCRequest extends Request {
  jsonrpc: typeof JSONRPC_VERSION;

  /** Repeated in the response; a sender never uses it again during the session. */
  id: RequestId;
}

/** A one-way message; it has no id and gets no answer, not even an error. */
export interface JSONRPCNotification extends Notification {
  jsonrpc: typeof JSONRPC_VERSION;
}

/** The answer to a request that succeeded. */
export interface JSONRPCResponse {
  jsonrpc: typeof JSONRPC_VERSION;

  /** Id of the request that is answered. */
  id: RequestId;
  result: Result;
}

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

/** The answer to a request that failed. */
export interface JSONRPCError {
  jsonrpc: typeof JSONRPC_VERSION;

  /** Id of the request that failed. */
  id: RequestId;

  /** Tells what went wrong. */
  error: {
    /** Integer that programs can act on, such as -32602. */
    code: number;

    /** One short sentence for people. */
    message: string;

    /** Further details, in a form that the sender of the error defines. */
    data?: unknown;
  };
}

/** Confirms success where there is nothing to return. */
export type EmptyResult = Result;

/** Tells the receiver to stop work on an earlier request of the sender and not to answer it. */
export interface CancelledNotification extends Notification {
  method: "notifications/cancelled";
  params: {
    /** Id of a request that the sender made earlier and believes to be still running. */
    requestId: RequestId;

    /** Why, in words for people or a log. */
    reason?: string;
  };
}

/** Opens the session; until it is answered the client sends no other requests but pings. */
export interface InitializeRequest extends Request {
  method: "initialize";
  params: {
    /** Newest revision that the client speaks. */
    protocolVersion: string;
    capabilities: ClientCapabilities;
    clientInfo: Implementation;
  };
}

/** Introduces the server to the client, in answer to `initialize`. */
export interface InitializeResult extends Result {
  /**
   * The revision asked for, if the server speaks it, else its newest; a client that cannot follow
   * disconnects.
   */
  protocolVersion: string;
  capabilities: ServerCapabilities;
  serverInfo: Implementation;

  /** Free text on working with this server, which the client hands on to its host. */
  instructions?: string;
}

/** Sent by the client once it has the answer to `initialize`; normal operation begins. */
export interface InitializedNotification extends Notification {
  method: "notifications/initialized";
}

/** Optional features that a client offers; unknown keys are ignored. */
export interface ClientCapabilities {
  /** Settings of non-standard features, by name of the feature. */
  experimental?: { [key: string]: object };

  /** Declared by a client that tells its roots on request. */
  roots?: {
    /** Whether the client sends `notifications/roots/list_changed`; absent means false. */
    listChanged?: boolean;
  };

  /** Declared by a client that lets servers use its language model. */
  sampling?: object;
}

/** Optional features that a server offers; unknown keys are ignored. */
export interface ServerCapabilities {
  /** Settings of non-standard features, by name of the feature. */
  experimental?: { [key: string]: object };

  /** Declared by a server that sends `notifications/message`. */
  logging?: object;

  /** Declared by a server that answers `completion/complete`. */
  completions?: object;

  /** Declared by a server that has prompts, if only as an empty object. */
  prompts?: {
    /** Whether the server sends `notifications/prompts/list_changed`; absent means false. */
    listChanged?: boolean;
  };

  /** Declared by a server that has resources, if only as an empty object. */
  resources?: {
    /** Whether the server accepts `resources/subscribe`; absent means false. */
    subscribe?: boolean;

    /** Whether the server sends `notifications/resources/list_changed`; absent means false. */
    listChanged?: boolean;
  };

  /** Declared by a server that has tools, if only as an empty object. */
  tools?: {
    /** Whether the server sends `notifications/tools/list_changed`; absent means false. */
    listChanged?: boolean;
  };
}

/** Names the software on one side of a connection. */
export interface Implementation {
  name: string;

  /** Version of the software, not of the protocol. */
  version: string;
}

/** Sent by either side to find out whether the other still answers; the answer is empty. */
export interface PingRequest extends Request {
  method: "ping";
}

/** Reports how far the work on a request has come. */
export interface ProgressNotification extends Notification {
  method: "notifications/progress";
  params: {
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
  };
}

/** What requests for lists have in common. */
export interface PaginatedRequest extends Request {
  params?: {
    /** A `nextCursor` received earlier; absent asks for the first page. */
    cursor?: Cursor;
  };
}

/** What pages of lists have in common. */
export interface PaginatedResult extends Result {
  /** Cursor for the next page; absent on the last one. */
  nextCursor?: Cursor;
}

/** Asks for the resources, one page at a time. */
export interface ListResourcesRequest extends PaginatedRequest {
  method: "resources/list";
}

/** One page of the server's resources. */
export interface ListResourcesResult extends PaginatedResult {
  resources: Resource[];
}

/** Asks for the resource templates, one page at a time. */
export interface ListResourceTemplatesRequest extends PaginatedRequest {
  method: "resources/templates/list";
}

/** One page of the server's resource templates. */
export interface ListResourceTemplatesResult extends PaginatedResult {
  resourceTemplates: ResourceTemplate[];
}

/** Asks for the contents of a resource. */
export interface ReadResourceRequest extends Request {
  method: "resources/read";
  params: {
    /**
     * Any scheme may occur, common ones such as `file:` as well as the server's own.
     * @format uri
     */
    uri: string;
  };
}

/** What a resource contains. */
export interface ReadResourceResult extends Result {
  /**
   * Text or binary parts; a directory, for instance, may give several, each with its own URI.
   */
  contents: (TextResourceContents | BlobResourceContents)[];
}

/** Sent by a server whose set of resources has changed; the client may fetch the list anew. */
export interface ResourceListChangedNotification extends Notification {
  method: "notifications/resources/list_changed";
}

/** Asks for a notification each time a certain resource changes. */
export interface SubscribeRequest extends Request {
  method: "resources/subscribe";
  params: {
    /**
     * Resource to watch; any URI scheme may occur.
     * @format uri
     */
    uri: string;
  };
}

/** Ends the notifications for a resource that was subscribed to earlier. */
export interface UnsubscribeRequest extends Request {
  method: "resources/unsubscribe";
  params: {
    /**
     * The same URI as in `resources/subscribe`.
     * @format uri
     */
    uri: string;
  };
}

/** Sent by a server when a resource that the client watches has changed. */
export interface ResourceUpdatedNotification extends Notification {
  method: "notifications/resources/updated";
  params: {
    /**
     * The watched resource or one below it.
     * @format uri
     */
    uri: string;
  };
}

/** Something that a server lets clients read, such as a file or a record. */
export interface Resource {
  /**
   * Identifies the resource on its server, which alone gives the URI its meaning.
   * @format uri
   */
  uri: string;

  /** Label for people. */
  name: string;

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
}

/** Describes a whole family of resources by a pattern for their URIs. */
export interface ResourceTemplate {
  /**
   * RFC 6570 template from which a client builds resource URIs.
   * @format uri-template
   */
  uriTemplate: string;

  /** Label for people. */
  name: string;

  /** Explanation for models and people. */
  description?: string;

  /** Type that everything built from the template has; absent where types differ. */
  mimeType?: string;

  /** Hints for the client on whom it is for and how much it matters. */
  annotations?: Annotations;
}

/** What text and binary contents have in common. */
export interface ResourceContents {
  /**
   * The resource itself or a part of it.
   * @format uri
   */
  uri: string;

  /** Media type such as `text/plain`; absent means unknown. */
  mimeType?: string;
}

/** Contents that are text. */
export interface TextResourceContents extends ResourceContents {
  /** The whole text; binary data goes into a `blob` instead. */
  text: string;
}

/** Contents that are binary. */
export interface BlobResourceContents extends ResourceContents {
  /**
   * The bytes in base64.
   * @format byte
   */
  blob: string;
}

/** Asks for the prompts, one page at a time. */
export interface ListPromptsRequest extends PaginatedRequest {
  method: "prompts/list";
}

/** One page of the server's prompts. */
export interface ListPromptsResult extends PaginatedResult {
  prompts: Prompt[];
}

/** Asks for a prompt with its arguments filled in. */
export interface GetPromptRequest extends Request {
  method: "prompts/get";
  params: {
    /** Name of a prompt from `prompts/list`. */
    name: string;

    /** Values by argument name, always strings. */
    arguments?: { [key: string]: string };
  };
}

/** The messages that a prompt has turned into. */
export interface GetPromptResult extends Result {
  /** What the prompt is for, in words for people. */
  description?: string;
  messages: PromptMessage[];
}

/** A message template of the server, usually picked by the user. */
export interface Prompt {
  /** Identifies the prompt on its server. */
  name: string;

  /** What the prompt achieves. */
  description?: string;

  /** Values that the prompt can take; absent means none. */
  arguments?: PromptArgument[];
}

/** A value with which a prompt can be filled in. */
export interface PromptArgument {
  /** Key of the value in `arguments` of `prompts/get`. */
  name: string;

  /** What to enter. */
  description?: string;

  /** True if `prompts/get` fails without it; absent means optional. */
  required?: boolean;
}

/** Who speaks: the person or the language model. */
export type Role = "user" | "assistant";

/** One turn of the conversation that a prompt yields. */
export interface PromptMessage {
  role: Role;
  content: TextContent | ImageContent | AudioContent | EmbeddedResource;
}

/** Content block that holds a resource as a whole. */
export interface EmbeddedResource {
  type: "resource";
  resource: TextResourceContents | BlobResourceContents;

  /** Hints for the client on whom it is for and how much it matters. */
  annotations?: Annotations;
}

/** Sent by a server whose set of prompts has changed; the client may fetch the list anew. */
export interface PromptListChangedNotification extends Notification {
  method: "notifications/prompts/list_changed";
}

/** Asks for the tools, one page at a time. */
export interface ListToolsRequest extends PaginatedRequest {
  method: "tools/list";
}

/** One page of the server's tools. */
export interface ListToolsResult extends PaginatedResult {
  tools: Tool[];
}

/** What a tool call has produced, failures of the tool included. */
export interface CallToolResult extends Result {
  /** Blocks for the model; present even if there are none. */
  content: (TextContent | ImageContent | AudioContent | EmbeddedResource)[];

  /**
   * True if the tool failed, with the reason in `content` for the model; absent means success.
   */
  isError?: boolean;
}

/** Runs a tool of the server. */
export interface CallToolRequest extends Request {
  method: "tools/call";
  params: {
    /** Name of a tool from `tools/list`. */
    name: string;

    /** Object that fits the tool's `inputSchema`; absent means no arguments. */
    arguments?: { [key: string]: unknown };
  };
}

/** Sent by a server whose set of tools has changed; the client may fetch the list anew. */
export interface ToolListChangedNotification extends Notification {
  method: "notifications/tools/list_changed";
}

/** Hints about what a tool does; a client trusts them only as far as it trusts the server. */
export interface ToolAnnotations {
  /** Label for people, shown in place of the tool's `name`. */
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

/** A function of the server that a client may call. */
export interface Tool {
  /** Identifies the tool on its server. */
  name: string;

  /** Tells the model what the tool does and when to use it. */
  description?: string;

  /** JSON Schema of the arguments object. */
  inputSchema: {
    type: "object";

    /** Schema of each argument, by name. */
    properties?: { [key: string]: object };

    /** Names of the arguments that every call has to give. */
    required?: string[];
  };

  /** Hints about what calls of the tool do. */
  annotations?: ToolAnnotations;
}

/** Tells the server how severe a log message has to be for the client to want it. */
export interface SetLevelRequest extends Request {
  method: "logging/setLevel";
  params: {
    /** Least severe level to send from now on. */
    level: LoggingLevel;
  };
}

/** A log message from the server. */
export interface LoggingMessageNotification extends Notification {
  method: "notifications/message";
  params: {
    level: LoggingLevel;

    /** Part of the server that logs; absent means unnamed. */
    logger?: string;

    /** The entry itself, as text or any other JSON value. */
    data: unknown;
  };
}

/** Severity of a log message, rising from `debug` to `emergency`. */
export type LoggingLevel =
  | "debug"
  | "info"
  | "notice"
  | "warning"
  | "error"
  | "critical"
  | "alert"
  | "emergency";

/** Sent by a server to have the client's language model continue a conversation. */
export interface CreateMessageRequest extends Request {
  method: "sampling/createMessage";
  params: {
    /** The conversation, oldest message first. */
    messages: SamplingMessage[];

    /** Wishes about the model, which the client alone picks. */
    modelPreferences?: ModelPreferences;

    /** System prompt that the server would like; the client may use another or none. */
    systemPrompt?: string;

    /**
     * Whose context to add to the prompt: nobody's, the asking server's or every server's; the
     * client may add less.
     */
    includeContext?: "none" | "thisServer" | "allServers";

    /**
     * How random the generation should be.
     * @TJS-type number
     */
    temperature?: number;

    /** Upper limit of tokens to generate; fewer may come. */
    maxTokens: number;

    /** Texts at which generation should end. */
    stopSequences?: string[];

    /** Extra settings that only the model's provider understands. */
    metadata?: object;
  };
}

/** The message that the client's language model wrote. */
export interface CreateMessageResult extends Result, SamplingMessage {
  /** Name of the model that wrote it. */
  model: string;

  /** Why generation ended; values outside this list may occur, and absent means unknown. */
  stopReason?: "endTurn" | "stopSequence" | "maxTokens" | string;
}

/** One turn of a conversation with a language model. */
export interface SamplingMessage {
  role: Role;
  content: TextContent | ImageContent | AudioContent;
}

/** Hints for the client about a resource or content block. */
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
}

/** Content block with plain text. */
export interface TextContent {
  type: "text";

  text: string;

  /** Hints for the client on whom it is for and how much it matters. */
  annotations?: Annotations;
}

/** Content block with a picture. */
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
}

/** Content block with sound. */
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
}

/** Wishes of a server about the model, none of which binds the client. */
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

/** Points to a model or a family of models; the client may know further keys. */
export interface ModelHint {
  /**
   * Fits every model whose name contains it; a client may take a comparable one from another
   * provider.
   */
  name?: string;
}

/** Asks for suggestions while the user types an argument. */
export interface CompleteRequest extends Request {
  method: "completion/complete";
  params: {
    /** The prompt or resource template that has the argument. */
    ref: PromptReference | ResourceReference;

    /** The argument being typed. */
    argument: {
      /** Argument of the prompt, or variable of the URI template. */
      name: string;

      /** What has been typed so far. */
      value: string;
    };
  };
}

/** Suggestions for an argument. */
export interface CompleteResult extends Result {
  completion: {
    /** At most 100, best match first. */
    values: string[];

    /** Number of all matches, sent or not; absent means unknown. */
    total?: number;

    /** True if some matches were not sent. */
    hasMore?: boolean;
  };
}

/** Points to a resource or resource template. */
export interface ResourceReference {
  type: "ref/resource";

  /**
   * A resource URI or an RFC 6570 template.
   * @format uri-template
   */
  uri: string;
}

/** Points to a prompt by its name. */
export interface PromptReference {
  type: "ref/prompt";

  /** Name of a prompt from `prompts/list`. */
  name: string;
}

/** Sent by a server to learn which parts of the file system are open to it. */
export interface ListRootsRequest extends Request {
  method: "roots/list";
}

/** The client's roots. */
export interface ListRootsResult extends Result {
  roots: Root[];
}

/** One place in the file system that a client opens to servers. */
export interface Root {
  /**
   * Starts with `file://`; no two roots of a client share it.
   * @format uri
   */
  uri: string;

  /** Label for people. */
  name?: string;
}

/** Sent by a client whose roots have changed; the server asks for them again. */
export interface RootsListChangedNotification extends Notification {
  method: "notifications/roots/list_changed";
}

/** Any request that a client sends. */
export type ClientRequest =
  | PingRequest
  | InitializeRequest
  | CompleteRequest
  | SetLevelRequest
  | GetPromptRequest
  | ListPromptsRequest
  | ListResourcesRequest
  | ListResourceTemplatesRequest
  | ReadResourceRequest
  | SubscribeRequest
  | UnsubscribeRequest
  | CallToolRequest
  | ListToolsRequest;

/** Any notification that a client sends. */
export type ClientNotification =
  | CancelledNotification
  | ProgressNotification
  | InitializedNotification
  | RootsListChangedNotification;

/** Any result that a client sends. */
export type ClientResult = EmptyResult | CreateMessageResult | ListRootsResult;

/** Any request that a server sends. */
export type ServerRequest =
  PingRequest | CreateMessageRequest | ListRootsRequest;

/** Any notification that a server sends. */
export type ServerNotification =
  | CancelledNotification
  | ProgressNotification
  | LoggingMessageNotification
  | ResourceUpdatedNotification
  | ResourceListChangedNotification
  | ToolListChangedNotification
  | PromptListChangedNotification;

/** Any result that a server sends. */
export type ServerResult =
  | EmptyResult
  | InitializeResult
  | CompleteResult
  | GetPromptResult
  | ListPromptsResult
  | ListResourceTemplatesResult
  | ListResourcesResult
  | ReadResourceResult
  | CallToolResult
  | ListToolsResult;
