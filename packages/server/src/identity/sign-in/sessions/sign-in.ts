import { maxEmailLength } from '@usher/contract/limits';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { inTransaction } from '../../../platform/database.ts';
import { addressKey } from '../../../platform/rate-limit.ts';
import { body, checked } from '../../../platform/schema.ts';
import { digestOf } from '../../secrets.ts';
import { readDevice } from '../devices/cookie.ts';
import { isKnownDevice } from '../devices/store.ts';
import { checkKey, invalidCredentials } from '../check-key.ts';
import { holdOperator } from '../hold-operator.ts';
import { spendLink } from '../links.ts';
import type { SignInParts } from '../parts.ts';
import { checkPassword } from '../passwords/check-password.ts';
import { givenPassword } from '../passwords/password.ts';
import { readCookie } from './cookie.ts';
import { openSession, type Entrant, type OpenedSession } from './open-session.ts';
import { endHeldSession } from './store.ts';

const ways = [
  ['email', 'password'],
  ['api_key_id', 'api_key_secret'],
  ['link', 'link'],
] as const;

const fields = body({
  email: Type.Optional(Type.String({ minLength: 1, maxLength: maxEmailLength })),
  password: Type.Optional(givenPassword),
  api_key_id: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  api_key_secret: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
  link: Type.Optional(Type.String({ minLength: 1, maxLength: 128, description: 'The part of the link behind #' })),
});
type Credentials = Type.Static<typeof fields>;

/** Exactly one way in, whole. */
export const credentials = checked(fields, (value) => {
  if (typeof value !== 'object' || value === null) return [];
  const given = (name: string): boolean => name in value;
  const begun = ways.filter((way) => way.some(given));
  const [first, ...others] = begun;
  if (first === undefined || others.length > 0)
    return [{ attribute: '', detail: 'must hold email and password, or api_key_id and api_key_secret, or link' }];
  return first.filter((name) => !given(name)).map((name) => ({ attribute: `/${name}`, detail: 'is required' }));
});

/** Opens a session, in place of the one that the browser holds. */
export async function signIn(parts: SignInParts, request: FastifyRequest, given: Credentials): Promise<OpenedSession> {
  parts.attempts.take(addressKey(request.ip));
  const userAgent = request.headers['user-agent'];
  const shown = given.link === undefined ? await check(parts, request, given) : null;
  const held = readCookie(request.headers.cookie);
  const presented = readDevice(request.headers.cookie);
  return inTransaction(request.sql, async (sql) => {
    const spent = given.link === undefined ? null : await spendLink(sql, given.link);
    const entrant = spent === null ? shown : ({ ...spent, proof: { by: 'link' } } as const);
    if (entrant === null) throw invalidCredentials('The link was used already, or is older than an hour.');
    await holdOperator(sql, entrant.operatorId);
    if (held !== null) await endHeldSession(sql, held.id, digestOf(held.secret));
    return openSession(sql, { ...entrant, userAgent, presented });
  });
}

/** Counts a guess by whoever makes it. A browser is known only for those who have signed in with it. */
async function countGuess({ guesses }: SignInParts, request: FastifyRequest, email: string): Promise<() => void> {
  const device = readDevice(request.headers.cookie);
  if (device !== null && (await isKnownDevice(request.sql, device, email)))
    return guesses.fromKnownDevice(digestOf(device).toString('base64url'), email);
  return guesses.fromAnybody(request.ip, email);
}

async function check(
  parts: SignInParts,
  request: FastifyRequest,
  { email, password, api_key_id: keyId, api_key_secret: secret }: Credentials,
): Promise<Omit<Entrant, 'userAgent' | 'presented'>> {
  const { sql } = request;
  if (email !== undefined && password !== undefined) {
    const right = await countGuess(parts, request, email);
    const { hash, ...owner } = await checkPassword(sql, parts.hasher, { email, password });
    right();
    return { ...owner, proof: { by: 'password', hash } };
  }
  if (keyId === undefined || secret === undefined) throw new Error('the schema lets in whole credentials only');
  const { accountId, operatorId, secretHash } = await checkKey(sql, keyId, secret);
  return { accountId, operatorId, proof: { by: 'api_key', keyId, hash: secretHash } };
}
