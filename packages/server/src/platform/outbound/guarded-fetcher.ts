import { Agent, request, type Dispatcher } from 'undici';
import { ForbiddenAddress, type AddressGuard } from './address-guard.ts';
import { guardedConnector } from './guarded-connector.ts';

export interface FetchLimits {
  readonly connectMs: number;
  /** From the start of the request to the last byte of the response. */
  readonly totalMs: number;
  readonly answerBytes: number;
}

export const defaultFetchLimits: FetchLimits = { connectMs: 5_000, totalMs: 10_000, answerBytes: 256 * 1_024 };

/** Connections to one origin; further requests wait. */
const connectionsToOrigin = 16;
const keepAliveMs = 4_000;

type FetchFailure = 'forbidden_address' | 'unreachable' | 'timed_out' | 'answer_too_large';

/** No complete response arrived. The cause has the details. */
export class FetchFailed extends Error {
  override readonly name = 'FetchFailed';
  readonly reason: FetchFailure;

  constructor(reason: FetchFailure, cause: unknown) {
    super(`the fetch failed: ${reason}`, { cause });
    this.reason = reason;
  }
}

interface FetchOptions {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface FetchAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

interface FetcherOptions {
  readonly guard: AddressGuard;
  /** Whether plain http is allowed only to the allowed ranges, or also to public addresses. */
  readonly plainHttp: 'to allowed ranges' | 'anywhere';
  /** Lookups of names are limited per holder. */
  readonly holder: string;
  readonly limits?: Partial<FetchLimits>;
}

/**
 * Sends HTTP requests to servers that customers configure. It connects only to addresses that the guard has checked, follows no
 * redirects, verifies certificates, and limits the time and the size of the response.
 */
export class GuardedFetcher {
  readonly #agent: Agent;
  readonly #limits: FetchLimits;

  constructor({ guard, plainHttp, holder, limits }: FetcherOptions) {
    this.#limits = { ...defaultFetchLimits, ...limits };
    this.#agent = new Agent({
      connect: guardedConnector({ guard, plainHttp, timeoutMs: this.#limits.connectMs, holder }),
      connections: connectionsToOrigin,
      pipelining: 1,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs,
    });
  }

  /** Resolves with any status; rejects only with `FetchFailed`. */
  async fetch(url: URL, { method = 'GET', headers = {}, body }: FetchOptions = {}): Promise<FetchAnswer> {
    const { totalMs, answerBytes } = this.#limits;
    const signal = AbortSignal.timeout(totalMs);
    try {
      const answer = await request(url, {
        dispatcher: this.#agent,
        method,
        headers: { ...headers },
        ...(body === undefined ? {} : { body }),
        signal,
        headersTimeout: totalMs,
        bodyTimeout: totalMs,
      });
      return { status: answer.statusCode, headers: answer.headers, body: await readUpTo(answer.body, answerBytes) };
    } catch (error) {
      if (error instanceof FetchFailed) throw error;
      throw new FetchFailed(reasonOf(error, signal), error);
    }
  }

  /** Aborts all running requests. */
  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}

async function readUpTo(body: Dispatcher.ResponseData['body'], most: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Leaving the loop destroys the body and its connection.
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > most) throw new FetchFailed('answer_too_large', new Error(`more than ${most} bytes`));
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const tooLong = new Set(['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT']);

function reasonOf(error: unknown, signal: AbortSignal): FetchFailure {
  if (error instanceof ForbiddenAddress) return 'forbidden_address';
  if (signal.aborted) return 'timed_out';
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return tooLong.has(code) ? 'timed_out' : 'unreachable';
}
