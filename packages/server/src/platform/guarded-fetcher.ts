import { Agent, request, type Dispatcher } from 'undici';
import { ForbiddenAddress, type AddressGuard } from './address-guard.ts';
import { guardedConnector } from './guarded-connector.ts';

export interface FetchLimits {
  readonly connectMs: number;
  /** From the first moment to the last byte of the answer. */
  readonly totalMs: number;
  readonly answerBytes: number;
}

export const defaultFetchLimits: FetchLimits = { connectMs: 5_000, totalMs: 10_000, answerBytes: 256 * 1_024 };

/** To one origin; more wait for one of them. */
const connectionsToOrigin = 16;
const keepAliveMs = 4_000;

type FetchFailure = 'forbidden_address' | 'unreachable' | 'timed_out' | 'answer_too_large';

/** No whole answer came. What the reason does not tell stands in the cause. */
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
  /** Where plain http may go: to the allowed ranges alone, or also to public addresses. */
  readonly plainHttp: 'to allowed ranges' | 'anywhere';
  /** Whose lookups of names are counted together. */
  readonly holder: string;
  readonly limits?: Partial<FetchLimits>;
}

/**
 * Speaks HTTP to servers that customers named. Connects to addresses the guard has checked and to no others, follows no
 * redirect, verifies certificates, and gives up on whoever is slow or endless.
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

  /** Whatever the status; rejects with `FetchFailed` alone. */
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

  /** Cuts off what is under way. */
  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}

async function readUpTo(body: Dispatcher.ResponseData['body'], most: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Leaving the loop destroys the body, and the connection with it.
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
