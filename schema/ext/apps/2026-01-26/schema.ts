import type {
  CallToolResult,
  ContentBlock,
  EmbeddedResource,
  Implementation,
  RequestId,
  ResourceLink,
  Tool,
} from "@modelcontextprotocol/client";

export const LATEST_PROTOCOL_VERSION = "2026-01-26";

/** How the host is coloured. */
export type McpUiTheme = "light" | "dark";

/** Where a page is shown. */
export type McpUiDisplayMode = "inline" | "fullscreen" | "pip";

/** The CSS variables that a host may set. */
export type McpUiStyleVariableKey =
  | "--color-background-primary"
  | "--color-background-secondary"
  | "--color-background-tertiary"
  | "--color-background-inverse"
  | "--color-background-ghost"
  | "--color-background-info"
  | "--color-background-danger"
  | "--color-background-success"
  | "--color-background-warning"
  | "--color-background-disabled"
  | "--color-text-primary"
  | "--color-text-secondary"
  | "--color-text-tertiary"
  | "--color-text-inverse"
  | "--color-text-ghost"
  | "--color-text-info"
  | "--color-text-danger"
  | "--color-text-success"
  | "--color-text-warning"
  | "--color-text-disabled"
  | "--color-border-primary"
  | "--color-border-secondary"
  | "--color-border-tertiary"
  | "--color-border-inverse"
  | "--color-border-ghost"
  | "--color-border-info"
  | "--color-border-danger"
  | "--color-border-success"
  | "--color-border-warning"
  | "--color-border-disabled"
  | "--color-ring-primary"
  | "--color-ring-secondary"
  | "--color-ring-inverse"
  | "--color-ring-info"
  | "--color-ring-danger"
  | "--color-ring-success"
  | "--color-ring-warning"
  | "--font-sans"
  | "--font-mono"
  | "--font-weight-normal"
  | "--font-weight-medium"
  | "--font-weight-semibold"
  | "--font-weight-bold"
  | "--font-text-xs-size"
  | "--font-text-sm-size"
  | "--font-text-md-size"
  | "--font-text-lg-size"
  | "--font-heading-xs-size"
  | "--font-heading-sm-size"
  | "--font-heading-md-size"
  | "--font-heading-lg-size"
  | "--font-heading-xl-size"
  | "--font-heading-2xl-size"
  | "--font-heading-3xl-size"
  | "--font-text-xs-line-height"
  | "--font-text-sm-line-height"
  | "--font-text-md-line-height"
  | "--font-text-lg-line-height"
  | "--font-heading-xs-line-height"
  | "--font-heading-sm-line-height"
  | "--font-heading-md-line-height"
  | "--font-heading-lg-line-height"
  | "--font-heading-xl-line-height"
  | "--font-heading-2xl-line-height"
  | "--font-heading-3xl-line-height"
  | "--border-radius-xs"
  | "--border-radius-sm"
  | "--border-radius-md"
  | "--border-radius-lg"
  | "--border-radius-xl"
  | "--border-radius-full"
  | "--border-width-regular"
  | "--shadow-hairline"
  | "--shadow-sm"
  | "--shadow-md"
  | "--shadow-lg";

/** Values of CSS variables; any of them may be missing. */
export type McpUiStyles = Record<McpUiStyleVariableKey, string | undefined>;

/** The page asks the host to open an address. */
export interface McpUiOpenLinkRequest {
  method: "ui/open-link";
  params: {
    url: string;
  };
}

export interface McpUiOpenLinkResult {
  isError?: boolean;
  [key: string]: unknown;
}

/** The page asks the host to save files. */
export interface McpUiDownloadFileRequest {
  method: "ui/download-file";
  params: {
    contents: (EmbeddedResource | ResourceLink)[];
  };
}

export interface McpUiDownloadFileResult {
  isError?: boolean;
  [key: string]: unknown;
}

/** The page sends a message into the conversation. */
export interface McpUiMessageRequest {
  method: "ui/message";
  params: {
    role: "user";
    content: ContentBlock[];
  };
}

export interface McpUiMessageResult {
  isError?: boolean;
  [key: string]: unknown;
}

/** @internal */
export interface McpUiSandboxProxyReadyNotification {
  method: "ui/notifications/sandbox-proxy-ready";
  params: {};
}

/** @internal */
export interface McpUiSandboxResourceReadyNotification {
  method: "ui/notifications/sandbox-resource-ready";
  params: {
    html: string;
    sandbox?: string;
    csp?: McpUiResourceCsp;
    permissions?: McpUiResourcePermissions;
  };
}

/** The page has changed its size. */
export interface McpUiSizeChangedNotification {
  method: "ui/notifications/size-changed";
  params: {
    width?: number;
    height?: number;
  };
}

/** The page gets the arguments of the call that it belongs to. */
export interface McpUiToolInputNotification {
  method: "ui/notifications/tool-input";
  params: {
    arguments?: Record<string, unknown>;
  };
}

/** The page gets what there is of the arguments so far. */
export interface McpUiToolInputPartialNotification {
  method: "ui/notifications/tool-input-partial";
  params: {
    arguments?: Record<string, unknown>;
  };
}

/** The page gets the result of the call that it belongs to. */
export interface McpUiToolResultNotification {
  method: "ui/notifications/tool-result";
  params: CallToolResult;
}

/** The call that the page belongs to was cancelled. */
export interface McpUiToolCancelledNotification {
  method: "ui/notifications/tool-cancelled";
  params: {
    reason?: string;
  };
}

export interface McpUiHostCss {
  fonts?: string;
}

export interface McpUiHostStyles {
  variables?: McpUiStyles;
  css?: McpUiHostCss;
}

/** What the host says of itself and of the place of the page. */
export interface McpUiHostContext {
  toolInfo?: {
    id?: RequestId;
    tool: Tool;
  };
  theme?: McpUiTheme;
  styles?: McpUiHostStyles;
  displayMode?: McpUiDisplayMode;
  availableDisplayModes?: McpUiDisplayMode[];
  /** The room of the page: fixed sizes, or what they may grow to. */
  containerDimensions?: ({
    height: number;
  } | {
    maxHeight?: number | undefined;
  }) & ({
    width: number;
  } | {
    maxWidth?: number | undefined;
  });
  locale?: string;
  timeZone?: string;
  userAgent?: string;
  platform?: "web" | "desktop" | "mobile";
  deviceCapabilities?: {
    touch?: boolean;
    hover?: boolean;
  };
  safeAreaInsets?: {
    top: number;
    right: number;
    bottom: number;
    left: number;
  };
  [key: string]: unknown;
}

export interface McpUiHostContextChangedNotification {
  method: "ui/notifications/host-context-changed";
  params: McpUiHostContext;
}

/** The page gives the model something to know at its next turn. */
export interface McpUiUpdateModelContextRequest {
  method: "ui/update-model-context";
  params: {
    content?: ContentBlock[];
    structuredContent?: Record<string, unknown>;
  };
}

/** The host is about to remove the page. */
export interface McpUiResourceTeardownRequest {
  method: "ui/resource-teardown";
  params: {};
}

export interface McpUiResourceTeardownResult {
  [key: string]: unknown;
}

export interface McpUiSupportedContentBlockModalities {
  text?: {};
  image?: {};
  audio?: {};
  resource?: {};
  resourceLink?: {};
  structuredContent?: {};
}

/** The page asks to be removed. */
export interface McpUiRequestTeardownNotification {
  method: "ui/notifications/request-teardown";
  params?: {};
}

/** What the host can do for the page. */
export interface McpUiHostCapabilities {
  experimental?: Record<string, object>;
  openLinks?: {};
  downloadFile?: {};
  serverTools?: {
    listChanged?: boolean;
  };
  serverResources?: {
    listChanged?: boolean;
  };
  logging?: {};
  sandbox?: {
    permissions?: McpUiResourcePermissions;
    csp?: McpUiResourceCsp;
  };
  updateModelContext?: McpUiSupportedContentBlockModalities;
  message?: McpUiSupportedContentBlockModalities;
  sampling?: {
    tools?: {};
  };
}

/** What the page can do for the host. */
export interface McpUiAppCapabilities {
  experimental?: Record<string, object>;
  tools?: {
    listChanged?: boolean;
  };
  availableDisplayModes?: McpUiDisplayMode[];
}

/** The first message of a page. */
export interface McpUiInitializeRequest {
  method: "ui/initialize";
  params: {
    appInfo: Implementation;
    appCapabilities: McpUiAppCapabilities;
    protocolVersion: string;
  };
}

export interface McpUiInitializeResult {
  protocolVersion: string;
  hostInfo: Implementation;
  hostCapabilities: McpUiHostCapabilities;
  hostContext: McpUiHostContext;
  [key: string]: unknown;
}

/** The page is ready; from now on the host may send. */
export interface McpUiInitializedNotification {
  method: "ui/notifications/initialized";
  params?: {};
}

/** The origins that a page needs, by what it needs them for. */
export interface McpUiResourceCsp {
  connectDomains?: string[];
  resourceDomains?: string[];
  frameDomains?: string[];
  baseUriDomains?: string[];
}

/** What a page wants from the browser. */
export interface McpUiResourcePermissions {
  camera?: {};
  microphone?: {};
  geolocation?: {};
  clipboardWrite?: {};
  tools?: {};
}

/** What a server says of a page, in the `_meta` of its resource. */
export interface McpUiResourceMeta {
  csp?: McpUiResourceCsp;
  permissions?: McpUiResourcePermissions;
  domain?: string;
  prefersBorder?: boolean;
}

/** The page asks to be shown elsewhere. */
export interface McpUiRequestDisplayModeRequest {
  method: "ui/request-display-mode";
  params: {
    mode: McpUiDisplayMode;
  };
}

export interface McpUiRequestDisplayModeResult {
  mode: McpUiDisplayMode;
  [key: string]: unknown;
}

/** Who may see and call a tool. */
export type McpUiToolVisibility = "model" | "app";

/** What a server says of a tool with a page, in the `_meta` of the tool. */
export interface McpUiToolMeta {
  /** The page of the tool, a `ui://` resource. */
  resourceUri?: string;
  /** Both where it is missing. */
  visibility?: McpUiToolVisibility[];
  /** Belongs to the resource. */
  csp?: never;
  /** Belongs to the resource. */
  permissions?: never;
}

export const OPEN_LINK_METHOD: McpUiOpenLinkRequest["method"] = "ui/open-link";

export const DOWNLOAD_FILE_METHOD: McpUiDownloadFileRequest["method"] = "ui/download-file";

export const MESSAGE_METHOD: McpUiMessageRequest["method"] = "ui/message";

export const SANDBOX_PROXY_READY_METHOD: McpUiSandboxProxyReadyNotification["method"] =
  "ui/notifications/sandbox-proxy-ready";

export const SANDBOX_RESOURCE_READY_METHOD: McpUiSandboxResourceReadyNotification["method"] =
  "ui/notifications/sandbox-resource-ready";

export const SIZE_CHANGED_METHOD: McpUiSizeChangedNotification["method"] =
  "ui/notifications/size-changed";

export const TOOL_INPUT_METHOD: McpUiToolInputNotification["method"] =
  "ui/notifications/tool-input";

export const TOOL_INPUT_PARTIAL_METHOD: McpUiToolInputPartialNotification["method"] =
  "ui/notifications/tool-input-partial";

export const TOOL_RESULT_METHOD: McpUiToolResultNotification["method"] =
  "ui/notifications/tool-result";

export const TOOL_CANCELLED_METHOD: McpUiToolCancelledNotification["method"] =
  "ui/notifications/tool-cancelled";

export const HOST_CONTEXT_CHANGED_METHOD: McpUiHostContextChangedNotification["method"] =
  "ui/notifications/host-context-changed";

export const REQUEST_TEARDOWN_METHOD: McpUiRequestTeardownNotification["method"] =
  "ui/notifications/request-teardown";

export const RESOURCE_TEARDOWN_METHOD: McpUiResourceTeardownRequest["method"] =
  "ui/resource-teardown";

export const INITIALIZE_METHOD: McpUiInitializeRequest["method"] = "ui/initialize";

export const INITIALIZED_METHOD: McpUiInitializedNotification["method"] =
  "ui/notifications/initialized";

export const REQUEST_DISPLAY_MODE_METHOD: McpUiRequestDisplayModeRequest["method"] =
  "ui/request-display-mode";

/** What a client says of its pages to a server. */
export interface McpUiClientCapabilities {
  mimeTypes?: string[];
}
