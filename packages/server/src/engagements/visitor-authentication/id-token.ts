import { createHash } from 'node:crypto';
import {
  decodeProtectedHeader,
  errors,
  jwtVerify,
  type JWTPayload,
  type JWTVerifyGetKey,
  type ProtectedHeaderParameters,
} from 'jose';
import type { AuthenticationFailure } from '../../events/authentication-failures.ts';
import { FetchFailed } from '../../platform/guarded-fetcher.ts';
import { AuthenticationFailed } from './authentication-failed.ts';

/** Never `none`, and never a shared secret: with HS256 the provider's public key would do as one. */
const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
/** How far the provider's clock may be off. */
const leewaySec = 60;
/** However long it says it is valid: so we need not remember for longer that it was used. */
const mostAgeSec = 24 * 3_600;
/** OpenID Connect Core 2: at most 255 ASCII characters. */
const longestSubject = 255;
const longestName = 255;
const emailShape = /^[^\s@]+@[^\s@]+$/;
const longestEmail = 254;

interface Expected {
  readonly issuer: string;
  readonly clientId: string;
  /** The one the client made for this token; `null` if it made none. */
  readonly nonce: string | null;
}

/** Who a token says the visitor is. */
export interface VisitorIdentity {
  readonly issuer: string;
  readonly subject: string;
  readonly name: string | null;
  readonly preferredName: string | null;
  readonly email: string | null;
  /** Whether the provider has said that it is not sure of the address. */
  readonly emailIsDoubtful: boolean;
  /** The same for the same token, and for no other of the issuer and client. */
  readonly tokenHash: Buffer;
}

/** What the token says, once everything about it is right (OpenID Connect Core 3.1.3.7). */
export async function checkIdToken(
  token: string,
  keys: JWTVerifyGetKey,
  { issuer, clientId, nonce }: Expected,
): Promise<VisitorIdentity> {
  refuseHeader(token);
  const { payload } = await jwtVerify(token, keys, {
    algorithms,
    issuer,
    audience: clientId,
    clockTolerance: leewaySec,
    maxTokenAge: mostAgeSec,
    requiredClaims: ['sub', 'exp'],
  }).catch((error: unknown) => {
    throw error instanceof FetchFailed || error instanceof AuthenticationFailed
      ? error
      : new AuthenticationFailed(reasonOf(error), error);
  });
  refuseOtherParty(payload, clientId);
  if ((payload['nonce'] ?? null) !== nonce) throw new AuthenticationFailed('nonce_mismatch');
  const subject = textOf(payload.sub, longestSubject);
  if (subject === null || subject !== payload.sub) throw new AuthenticationFailed('missing_claim');
  return {
    issuer,
    subject,
    name: textOf(payload['name'], longestName),
    preferredName: textOf(payload['preferred_name'] ?? payload['preferred_username'], longestName),
    email: emailOf(payload['email']),
    emailIsDoubtful: payload['email_verified'] === false || payload['email_verified'] === 'false',
    tokenHash: hashOf(token, payload, { issuer, clientId }),
  };
}

/** Told apart from a wrong signature, and before any key is fetched for it. */
function refuseHeader(token: string): void {
  let header: ProtectedHeaderParameters;
  try {
    header = decodeProtectedHeader(token);
  } catch (error) {
    throw new AuthenticationFailed('malformed_token', error);
  }
  const { alg, typ = 'JWT' }: { alg?: unknown; typ?: unknown } = header;
  if (alg === 'none') throw new AuthenticationFailed('unsigned');
  if (typeof alg !== 'string' || !algorithms.includes(alg)) throw new AuthenticationFailed('algorithm_not_allowed');
  // An access or logout token of the same provider says so here, and proves nothing.
  if (typeof typ !== 'string' || typ.toUpperCase() !== 'JWT') throw new AuthenticationFailed('malformed_token');
}

/** A token for several must say which of them it was made for; one that says so must have been made for us. */
function refuseOtherParty({ aud, azp }: JWTPayload, clientId: string): void {
  const isForSeveral = Array.isArray(aud) && aud.length > 1;
  if (azp === undefined ? isForSeveral : azp !== clientId) throw new AuthenticationFailed('wrong_audience');
}

const reasonsByClaim: Readonly<Record<string, AuthenticationFailure>> = {
  iss: 'wrong_issuer',
  aud: 'wrong_audience',
  nbf: 'token_not_yet_valid',
  iat: 'token_not_yet_valid',
};

function reasonOf(error: unknown): AuthenticationFailure {
  if (error instanceof errors.JWTExpired) return 'token_expired';
  if (error instanceof errors.JWTClaimValidationFailed)
    return error.reason === 'check_failed' ? (reasonsByClaim[error.claim] ?? 'missing_claim') : 'missing_claim';
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys)
    return 'unknown_key';
  if (error instanceof errors.JWKSTimeout) return 'provider_unreachable';
  if (error instanceof errors.JWKSInvalid || error instanceof errors.JWKInvalid) return 'provider_misconfigured';
  if (error instanceof errors.JWSInvalid || error instanceof errors.JWTInvalid) return 'malformed_token';
  if (error instanceof errors.JOSENotSupported) return 'algorithm_not_allowed';
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'bad_signature';
  // A key too short, or not on its curve: no signature by it is worth anything.
  return 'provider_misconfigured';
}

/** What we can keep and show; `null` for anything else. */
function textOf(claim: unknown, most: number): string | null {
  if (typeof claim !== 'string' || claim.includes('\0') || !claim.isWellFormed()) return null;
  const text = claim.slice(0, most);
  return text === '' || !text.isWellFormed() ? null : text;
}

function emailOf(claim: unknown): string | null {
  const email = textOf(claim, longestEmail);
  return email !== null && email === claim && emailShape.test(email) ? email : null;
}

/**
 * By its `jti`, else by what is signed. Not by the signature: one of an elliptic curve can be turned into another that is
 * as good.
 */
function hashOf(token: string, { jti }: JWTPayload, { issuer, clientId }: Omit<Expected, 'nonce'>): Buffer {
  // An empty one tells no tokens apart.
  const own = typeof jti === 'string' && jti !== '' ? ['jti', jti] : ['signed', token.slice(0, token.lastIndexOf('.'))];
  return createHash('sha256')
    .update(JSON.stringify([issuer, clientId, ...own]))
    .digest();
}
