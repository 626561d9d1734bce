/** The part of an OpenAPI 3.1 document that Usher uses. */
export interface ApiDocument {
  readonly info: { readonly title: string; readonly description?: string; readonly version: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, ApiOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, unknown>>;
    readonly responses: Readonly<Record<string, ApiResponse>>;
  };
  readonly webhooks: Readonly<Record<string, { readonly post: ApiOperation }>>;
}

interface MediaType {
  readonly schema: unknown;
  readonly example?: unknown;
}

export interface ApiResponse {
  /** A response of the components. */
  readonly $ref?: string;
  readonly description?: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, MediaType>>;
}

export interface ApiParameter {
  readonly in: string;
  readonly name: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: unknown;
}

export interface ApiOperation {
  readonly operationId?: string;
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly 'x-access'?: string;
  readonly parameters?: readonly ApiParameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Readonly<Record<string, MediaType>> };
  readonly responses: Readonly<Record<string, ApiResponse>>;
}

/** What a webhook is sent, and what the feed sends: the events by type, and the types of the feed's own items. */
export interface EventSchemas {
  readonly events: Readonly<
    Record<string, { readonly trigger: string; readonly schema: unknown; readonly sample: unknown }>
  >;
  readonly feedItems: Readonly<Record<string, unknown>>;
}
