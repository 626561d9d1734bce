import type { Operations, UploadFileResponse } from '@usher/sdk/api-types';
import { FeedReader, type ReaderOptions } from '@usher/sdk/feed';
import { jsonRequest, placed, readJson, type Value } from '@usher/sdk/request';
import { Transport, type TransportRequest } from '@usher/sdk/transport';
import { uploadFile, type UploadArguments, type UploadOptions } from '@usher/sdk/upload';
import { IdempotencyKeys } from './idempotency-keys.ts';

export type Operation = keyof Operations;
export type Answer<O extends Operation> = Operations[O]['answer'];

/** A field of the request: absent, optional or required, as the operation defines it. */
type Field<Key extends string, Value> = [Value] extends [undefined]
  ? { readonly [K in Key]?: undefined }
  : Record<never, never> extends Value
    ? { readonly [K in Key]?: Value }
    : { readonly [K in Key]: Value };

export type Request<O extends Operation> = Field<'path', Operations[O]['path']> &
  Field<'query', Operations[O]['query']> &
  Field<'body', Operations[O]['body']> & {
    /** The ETag of the version to change. If somebody else changed it meanwhile, the request is refused (412). */
    readonly ifMatch?: string | null;
    /** With the same key, the same request can be repeated safely. */
    readonly idempotencyKey?: string;
    readonly signal?: AbortSignal;
    /** The browser completes the request even if the page is closed. */
    readonly keepalive?: boolean;
  };

export interface Answered<O extends Operation> {
  readonly data: Answer<O>;
  readonly etag: string | null;
  readonly status: number;
}

interface ApiOptions {
  /** Prefix of every path; empty for the origin of the page. */
  readonly base: string;
  /** The value of the Authorization header. May wait, for example for a sign-in. */
  readonly authorization: () => Promise<string>;
  /** Called when the header was refused. `true`: a new header is available, so the request is repeated. */
  readonly renew?: (refused: string) => Promise<boolean>;
  /** Whether an operation creates a resource and therefore needs an Idempotency-Key. Default: no operation. */
  readonly creates?: (operation: Operation) => boolean;
}

/**
 * The client of a page: the SDK's, without retries, because the person sees a failure and decides. Refusals are thrown as `UsherError`,
 * an unreachable server as `UsherUnreachable`.
 */
export class Api {
  readonly #transport: Transport;
  readonly #creates: (operation: Operation) => boolean;
  readonly #keys = new IdempotencyKeys();

  constructor({ base, authorization, renew = async () => false, creates = () => false }: ApiOptions) {
    const header = { header: authorization, renew: async (refused: string | null) => renew(refused ?? '') };
    this.#transport = new Transport({ url: base, maxRetries: 0 }, header);
    this.#creates = creates;
  }

  async call<O extends Operation>(operation: O, request: Request<O>): Promise<Answer<O>> {
    return (await this.ask(operation, request)).data;
  }

  async ask<O extends Operation>(operation: O, request: Request<O>): Promise<Answered<O>> {
    if (request.idempotencyKey !== undefined || !this.#creates(operation)) return this.#ask(operation, request);
    const { path, body } = request as AnyRequest;
    return this.#keys.run(JSON.stringify([operation, path, body]), async (idempotencyKey) =>
      this.#ask(operation, { ...request, idempotencyKey }),
    );
  }

  async #ask<O extends Operation>(operation: O, request: Request<O>): Promise<Answered<O>> {
    const { path: values, query, ...others } = request as AnyRequest;
    const [method = 'GET', template = '/'] = operation.split(' ');
    const { path, search } = placed(template, { ...query, ...values });
    const sent = jsonRequest({ ...others, method, path: `${path}${search}` });
    return this.#transport.send(sent, async (response) => {
      const data = (await readJson(response)) as Answer<O>;
      return { data, etag: response.headers.get('etag'), status: response.status };
    });
  }

  /** Sends a request whose answer is not JSON, such as a file. */
  async send(request: TransportRequest): Promise<Response> {
    return this.#transport.send({ ...request, isStream: true }, async (response) => response);
  }

  async upload(file: UploadArguments, options?: UploadOptions): Promise<UploadFileResponse> {
    return uploadFile(this.#transport, file, options);
  }

  feed(options: ReaderOptions): FeedReader {
    return new FeedReader(this.#transport, options);
  }
}

interface AnyRequest {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, Value>>;
  readonly body?: unknown;
  readonly ifMatch?: string | null;
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
  readonly keepalive?: boolean;
}
