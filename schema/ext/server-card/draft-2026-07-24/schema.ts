/**
 * What a server publishes of itself at a well-known address.
 * @category Server Cards
 */
export interface ServerCard {
  /**
   * @format uri
   * @pattern ^https://static\.modelcontextprotocol\.io/schemas/v1/server-card\.schema\.json$
   */
  $schema: string;

  /**
   * A reversed domain, a slash, and a name.
   * @minLength 3
   * @maxLength 200
   * @pattern ^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$
   */
  name: string;

  /** @maxLength 255 */
  version: string;

  /**
   * @minLength 1
   * @maxLength 100
   */
  description: string;

  /**
   * @minLength 1
   * @maxLength 100
   */
  title?: string;

  /** @format uri */
  websiteUrl?: string;

  repository?: Repository;

  icons?: Icon[];

  remotes?: Remote[];

  _meta?: MetaObject;
}

/**
 * Where the source of the server is.
 * @category Server Cards
 */
export interface Repository {
  /** @format uri */
  url: string;

  source: string;

  subfolder?: string;

  id?: string;
}

/**
 * An address at which the server is reached.
 * @category Server Cards
 */
export interface Remote {
  type: "streamable-http" | "sse";

  /** @pattern ^(https?://[^\s]+|\{[a-zA-Z_][a-zA-Z0-9_]*\}[^\s]*)$ */
  url: string;

  headers?: KeyValueInput[];

  variables?: { [key: string]: Input };

  supportedProtocolVersions?: string[];
}

/**
 * A value that whoever configures the server fills in.
 * @category Server Cards
 */
export interface Input {
  description?: string;

  isRequired?: boolean;

  isSecret?: boolean;

  format?: "string" | "number" | "boolean" | "filepath";

  default?: string;

  placeholder?: string;

  value?: string;

  choices?: string[];
}

/**
 * Such a value with a name: a header.
 * @category Server Cards
 */
export interface KeyValueInput extends Input {
  name: string;

  variables?: { [key: string]: Input };
}

/** @category Common Types */
export interface MetaObject {
  [key: string]: unknown;
}

/** @category Common Types */
export interface Icon {
  /** @format uri */
  src: string;

  mimeType?: string;

  sizes?: string[];

  theme?: "light" | "dark";
}
