import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { deleteOld, type ShouldContinue } from '../database/batches.ts';
import type { Sql } from '../database/database.ts';
import { Refusal } from '../errors.ts';
import { isReadOnly } from './http.ts';
import type { AccountId } from '../ids.ts';
import type { AroundHandler, ForRoute } from './request-path.ts';
import { sendWithCommit, type NeedsTransaction } from './request-transaction.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body may contain a password: the stored hash of the request must not help to guess it. */
    secretBody?: true;
  }
  interface FastifyRequest {
    /**
     * An id for a resource that is created outside the request's transaction. It is the same whenever the request is repeated
     * with its key, so that the resource is created once even if the response was lost. Absent without a key.
     */
    keyedId?: string;
  }
}

/** The owner of a key: two callers may use the same key independently. */
export interface IdempotencyScope {
  readonly accountId: AccountId;
  readonly caller: string;
}

/** `null`: the key of this request is ignored. */
type ScopeOf = (request: FastifyRequest) => IdempotencyScope | null;

interface Answer {
  readonly status: number;
  readonly headers: { readonly location?: string; readonly etag?: string };
  readonly payload: unknown;
}

/** The `keyedId` of the request; `null` without a key. */
export function keyedIdOf<T extends string>({ keyedId }: FastifyRequest): T | null {
  return (keyedId ?? null) as T | null;
}

/**
 * `Idempotency-Key` on POST: the same key and request get the first answer again, within a day (D7.7).
 *
 * The row of the key, the change and the answer are one transaction. A second request with the key waits for the row until the
 * first has committed, then gets its answer. If the first was refused or killed, it left nothing, and the second runs.
 * Handlers therefore return their answer instead of sending it.
 *
 * An answer may contain a secret that is shown once, so it is stored encrypted with the key, of which only a hash is stored.
 */
export function answerOnce(scopeOf: ScopeOf): ForRoute<AroundHandler> {
  const step: AroundHandler = async (request, reply, next) => {
    const key = readKey(request);
    const scope = key === null ? null : scopeOf(request);
    if (key === null || scope === null) return next(request, reply);
    return once({ request, reply, key, scope, run: async () => next(request, reply) });
  };
  return (route) => (acceptsKeys(route) ? step : null);
}

/** The row of the key, the change and the answer are one transaction. */
export function hasKey(scopeOf: ScopeOf): NeedsTransaction {
  const isKeyed = (request: FastifyRequest): boolean => readKey(request) !== null && scopeOf(request) !== null;
  return (route) => (acceptsKeys(route) ? isKeyed : null);
}

/** A request that only reads may be repeated. Its answer may be long, and its type depends on Accept. */
function acceptsKeys(route: RouteOptions): boolean {
  return route.method === 'POST' && !isReadOnly(route);
}

/** The key of a request; `null` if it has none. */
export function readKey({ headers }: FastifyRequest): string | null {
  const key = headers['idempotency-key'] ?? headers['x-idempotency-key'];
  if (key === undefined) return null;
  if (typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw new Refusal('malformed_request', 'Idempotency-Key must be 1 to 255 visible ASCII characters.');
}

interface KeyedRequest {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly key: string;
  readonly scope: IdempotencyScope;
  readonly run: () => Promise<unknown>;
}

async function once({ request, reply, key, scope, run }: KeyedRequest): Promise<unknown> {
  const { sql } = request;
  const keyHash = createHash('sha256').update(key).digest();
  const requestHash = hashRequest(request, key);
  const [claimed] = await claim(sql, scope, keyHash, requestHash);
  if (claimed !== undefined) {
    request.keyedId = idOf(scope, request, keyHash);
    const payload = (await run()) ?? null;
    const answer = seal(key, { status: reply.statusCode, headers: storedHeaders(reply), payload });
    sendWithCommit(request, async () => storeAnswer(sql, scope, keyHash, answer));
    return payload;
  }
  const first = await findAnswer(sql, scope, keyHash);
  if (!first.requestHash.equals(requestHash)) {
    throw new Refusal('idempotency_key_reused', 'This Idempotency-Key was used for another request. Use a new key.');
  }
  const { status, headers, payload } = unseal(key, first.answer);
  reply.code(status).headers({ ...headers, 'idempotency-replayed': 'true' });
  return payload;
}

/** A UUID in the form of v4, derived from the hash of the key instead of random bytes. */
function idOf({ accountId, caller }: IdempotencyScope, request: FastifyRequest, keyHash: Buffer): string {
  const hash = createHash('sha256').update(`${accountId} ${caller} ${request.url} `).update(keyHash).digest();
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x40, 6);
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = hash.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-');
}

/** A plain hash of a body would let a reader of the database guess passwords; an HMAC with the client's key does not. */
function hashRequest(request: FastifyRequest, key: string): Buffer {
  const { secretBody = false } = request.routeOptions.config;
  return (secretBody ? createHmac('sha256', cipherKey(key)) : createHash('sha256'))
    .update(JSON.stringify([request.url, request.body]))
    .digest();
}

function storedHeaders(reply: FastifyReply): Answer['headers'] {
  const { location, etag } = reply.getHeaders();
  return { ...(typeof location === 'string' ? { location } : {}), ...(typeof etag === 'string' ? { etag } : {}) };
}

/** Claims a new or expired key; returns no row if another request has it. */
async function claim(sql: Sql, { accountId, caller }: IdempotencyScope, keyHash: Buffer, requestHash: Buffer) {
  return sql`
    INSERT INTO idempotency_keys AS known (account_id, caller, key_hash, request_hash)
    VALUES (${accountId}, ${caller}, ${keyHash}, ${requestHash})
    ON CONFLICT (account_id, caller, key_hash) DO UPDATE
       SET request_hash = excluded.request_hash, answer = NULL, created_at = now()
     -- While the clock may be wrong no key expires: the clock may have been set forward.
     WHERE known.created_at < now() - interval '24 hours' AND NOT clock_is_in_doubt()
    RETURNING 1`;
}

async function findAnswer(sql: Sql, { accountId, caller }: IdempotencyScope, keyHash: Buffer) {
  const [row] = await sql<{ requestHash: Buffer; answer: Buffer }[]>`
    SELECT request_hash AS "requestHash", answer
      FROM idempotency_keys
     WHERE account_id = ${accountId} AND caller = ${caller} AND key_hash = ${keyHash}`;
  if (row === undefined) throw new Error('the row of a claimed idempotency key is missing');
  return row;
}

async function storeAnswer(sql: Sql, { accountId, caller }: IdempotencyScope, keyHash: Buffer, answer: Buffer) {
  await sql`
    UPDATE idempotency_keys SET answer = ${answer}
     WHERE account_id = ${accountId} AND caller = ${caller} AND key_hash = ${keyHash}`;
}

export async function dropOldIdempotencyKeys(pool: Sql, now: Date, shouldContinue: ShouldContinue): Promise<void> {
  const before = (sql: Sql) => sql`${now}::timestamptz - interval '24 hours'`;
  await deleteOld(pool, { table: 'idempotency_keys', column: 'created_at', before }, shouldContinue);
}

function cipherKey(key: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', 'usher idempotent answer', 32));
}

function seal(key: string, answer: Answer): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', cipherKey(key), nonce);
  const sealed = Buffer.concat([cipher.update(JSON.stringify(answer)), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

function unseal(key: string, sealed: Buffer): Answer {
  const decipher = createDecipheriv('aes-256-gcm', cipherKey(key), sealed.subarray(0, 12));
  decipher.setAuthTag(sealed.subarray(12, 28));
  return JSON.parse(Buffer.concat([decipher.update(sealed.subarray(28)), decipher.final()]).toString()) as Answer;
}
