import { maxEmailLength } from '@usher/contract/limits';
import Type from 'typebox';
import { inTransaction, type Sql } from '../../../platform/database/database.ts';
import { addressKey } from '../../../platform/limits/rate-limit.ts';
import { body, checked } from '../../../platform/schema.ts';
import { digestOf } from '../../secrets.ts';
import { readDevice } from '../devices/cookie.ts';
import { isKnownDevice } from '../devices/store.ts';
import { checkKey, invalidCredentials } from '../check-key.ts';
import { lockSignIn } from '../lock-sign-in.ts';
import { redeemLink } from '../links.ts';
import type { SignInContext } from '../sign-in-context.ts';
import { checkPassword } from '../passwords/check-password.ts';
import { givenPassword } from '../passwords/password.ts';
import { readCookie } from './cookie.ts';
import { openSession, type VerifiedSignIn, type OpenedSession } from './open-session.ts';
import { endSessionInCookie } from './store.ts';

const credentialPairs = [
  ['email', 'password'],
  ['api_key_id', 'api_key_secret'],
  ['link', 'link'],
] as const;

const fields = body({
  email: Type.Optional(Type.String({ minLength: 1, maxLength: maxEmailLength })),
  password: Type.Optional(givenPassword),
  api_key_id: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  api_key_secret: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
  link: Type.Optional(Type.String({ minLength: 1, maxLength: 128, description: 'The part of the link after #' })),
});
type Credentials = Type.Static<typeof fields>;

/** Requires exactly one complete pair of credentials, or a link. */
export const credentials = checked(fields, (value) => {
  if (typeof value !== 'object' || value === null) return [];
  const given = (name: string): boolean => name in value;
  const [first, ...others] = credentialPairs.filter((pair) => pair.some(given));
  if (first === undefined || others.length > 0)
    return [{ attribute: '', detail: 'must contain email and password, or api_key_id and api_key_secret, or link' }];
  return first.filter((name) => !given(name)).map((name) => ({ attribute: `/${name}`, detail: 'is required' }));
});

/** What the request says about the client that signs in. */
interface SignInAttempt {
  readonly sql: Sql;
  readonly address: string;
  readonly userAgent: string | undefined;
  readonly cookies: string | undefined;
}

/** Opens a session and ends the one in the browser's cookie. */
export async function signIn(
  context: SignInContext,
  attempt: SignInAttempt,
  given: Credentials,
): Promise<OpenedSession> {
  const { userAgent, cookies } = attempt;
  context.attempts.take(addressKey(attempt.address));
  const checkedCredentials = given.link === undefined ? await check(context, attempt, given) : null;
  const cookie = readCookie(cookies);
  const deviceSecret = readDevice(cookies);
  return inTransaction(attempt.sql, async (sql) => {
    const owner = given.link === undefined ? null : await redeemLink(sql, given.link);
    const verified = owner === null ? checkedCredentials : ({ ...owner, proof: { by: 'link' } } as const);
    if (verified === null) throw invalidCredentials('This link has expired or was already used.');
    await lockSignIn(sql, verified.operatorId);
    if (cookie !== null) await endSessionInCookie(sql, cookie.id, digestOf(cookie.secret));
    return openSession(sql, { ...verified, userAgent, deviceSecret });
  });
}

/** Counts a guess. A browser is a known device only for the operators who have signed in with it. */
async function countGuess({ guesses }: SignInContext, attempt: SignInAttempt, email: string): Promise<() => void> {
  const device = readDevice(attempt.cookies);
  if (device !== null && (await isKnownDevice(attempt.sql, device, email)))
    return guesses.fromKnownDevice(digestOf(device).toString('base64url'), email);
  return guesses.fromAnybody(attempt.address, email);
}

async function check(
  context: SignInContext,
  attempt: SignInAttempt,
  { email, password, api_key_id: keyId, api_key_secret: secret }: Credentials,
): Promise<Omit<VerifiedSignIn, 'userAgent' | 'deviceSecret'>> {
  const { sql } = attempt;
  if (email !== undefined && password !== undefined) {
    const refundGuess = await countGuess(context, attempt, email);
    const { hash, ...owner } = await checkPassword(sql, context.hasher, { email, password });
    refundGuess();
    return { ...owner, proof: { by: 'password', hash } };
  }
  if (keyId === undefined || secret === undefined) throw new Error('the schema requires complete credentials');
  const { accountId, operatorId, secretHash } = await checkKey(sql, keyId, secret);
  return { accountId, operatorId, proof: { by: 'api_key', keyId, hash: secretHash } };
}
