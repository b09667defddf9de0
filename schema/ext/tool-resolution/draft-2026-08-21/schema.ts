export type JsonPrimitive = string | number | boolean | null;

export type JsonValue = JsonPrimitive | JsonObject | JsonValue[];

export interface JsonObject {
  [key: string]: JsonValue;
}

/** The hints of a tool for one call, all of them known. */
export interface ResolvedToolAnnotations {
  readOnlyHint: boolean;
  destructiveHint: boolean;
  idempotentHint: boolean;
  openWorldHint: boolean;
}

export interface ToolAnnotations {
  title?: string;
  readOnlyHint?: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint?: boolean;
  [key: string]: unknown;
}

export interface Icon {
  src: string;
  mimeType?: string;
  sizes?: string[];
  theme?: "light" | "dark";
}

export interface Tool {
  name: string;
  title?: string;
  description?: string;
  inputSchema: {
    type: "object";
    [key: string]: unknown;
  };
  outputSchema?: {
    [key: string]: unknown;
  };
  annotations?: ToolAnnotations;
  icons?: Icon[];
  _meta?: {
    [key: string]: unknown;
  };
}

/** Marks a tool whose hints depend on its arguments. */
export interface ToolResolutionToolMetadata {
  resolvable: true;
}

/** A tool with that mark. */
export interface ResolvableTool extends Tool {
  _meta: {
    "io.modelcontextprotocol/tool-resolution": ToolResolutionToolMetadata;
    [key: string]: unknown;
  };
}

/** The extension has no settings. */
export type ToolResolutionCapability = Record<string, never>;

export interface ToolResolutionExtensions {
  "io.modelcontextprotocol/tool-resolution": ToolResolutionCapability;
  [key: string]: JsonObject;
}

export interface ToolResolutionClientCapabilities {
  extensions: ToolResolutionExtensions;
  [key: string]: JsonValue;
}

export interface ToolResolutionRequestMeta {
  progressToken?: string | number;
  "io.modelcontextprotocol/protocolVersion"?: string;
  "io.modelcontextprotocol/clientCapabilities"?: ToolResolutionClientCapabilities;
  [key: string]: unknown;
}

export interface ResolveToolRequestParams {
  name: string;
  /** All arguments of the call. */
  arguments: JsonObject;
  _meta?: ToolResolutionRequestMeta;
}

/** Asks for the hints of a call before it is made. */
export interface ResolveToolRequest {
  jsonrpc: "2.0";
  id: string | number;
  method: "tools/resolve";
  params: ResolveToolRequestParams;
}

/** The hints of that call. */
export interface ResolveToolResult {
  resultType: "complete";
  name: string;
  annotations: ResolvedToolAnnotations;
  _meta?: ToolResolutionResultMeta;
}

export interface ToolResolutionResultMeta {
  [key: string]: JsonObject;
}

export interface ResolveToolResultResponse {
  jsonrpc: "2.0";
  id: string | number;
  result: ResolveToolResult;
}

export interface ToolResolutionServerCapabilities {
  extensions: ToolResolutionExtensions;
  [key: string]: JsonValue;
}
