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
import { FetchFailed } from '../../platform/outbound/guarded-fetcher.ts';
import { AuthenticationFailed } from './authentication-failed.ts';

/** Never `none`, and never a shared secret: an attacker could sign with HS256 and the provider's public key as the secret. */
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
/** Tolerated difference to the provider's clock. */
const leewaySec = 60;
/** Older tokens are refused, whatever their expiry says. So used tokens need not be stored for longer. */
const maxAgeSec = 24 * 3_600;
/** OpenID Connect Core 2: at most 255 ASCII characters. */
const maxSubjectLength = 255;
const maxNameLength = 255;
const emailShape = /^[^\s@]+@[^\s@]+$/;
const maxEmailLength = 254;

interface ExpectedClaims {
  readonly issuer: string;
  readonly clientId: string;
  /** The nonce that the client generated for this token; `null` if it generated none. */
  readonly nonce: string | null;
}

/** The visitor's identity according to the token. */
export interface VisitorIdentity {
  readonly issuer: string;
  readonly subject: string;
  readonly name: string | null;
  readonly preferredName: string | null;
  readonly email: string | null;
  /** Whether the provider says that the address is not verified. */
  readonly isEmailUnverified: boolean;
  /** Identifies the token among all tokens of the issuer for the client. */
  readonly tokenHash: Buffer;
}

/** Validates the token as OpenID Connect Core 3.1.3.7 demands, and returns the identity in it. */
export async function checkIdToken(
  token: string,
  keys: JWTVerifyGetKey,
  { issuer, clientId, nonce }: ExpectedClaims,
): Promise<VisitorIdentity> {
  refuseHeader(token);
  const { payload } = await jwtVerify(token, keys, {
    algorithms,
    issuer,
    audience: clientId,
    clockTolerance: leewaySec,
    maxTokenAge: maxAgeSec,
    requiredClaims: ['sub', 'exp'],
  }).catch((error: unknown) => {
    throw error instanceof FetchFailed || error instanceof AuthenticationFailed
      ? error
      : new AuthenticationFailed(reasonOf(error), error);
  });
  refuseOtherParty(payload, clientId);
  if ((payload['nonce'] ?? null) !== nonce) throw new AuthenticationFailed('nonce_mismatch');
  const subject = textOf(payload.sub, maxSubjectLength);
  if (subject === null || subject !== payload.sub) throw new AuthenticationFailed('missing_claim');
  return {
    issuer,
    subject,
    name: textOf(payload['name'], maxNameLength),
    preferredName: textOf(payload['preferred_name'] ?? payload['preferred_username'], maxNameLength),
    email: emailOf(payload['email']),
    isEmailUnverified: payload['email_verified'] === false || payload['email_verified'] === 'false',
    tokenHash: hashOf(token, payload, { issuer, clientId }),
  };
}

/** Checked before any key is fetched, and reported separately from a wrong signature. */
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
  // Access and logout tokens of the same provider have another `typ`. They are no proof of identity.
  if (typeof typ !== 'string' || typ.toUpperCase() !== 'JWT') throw new AuthenticationFailed('malformed_token');
}

/** A token with several audiences must have `azp`, and `azp` must name our client. */
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
  // The key is too short, or not a point on its curve, so its signatures prove nothing.
  return 'provider_misconfigured';
}

/** A text that can be stored and shown; `null` for any other claim. */
function textOf(claim: unknown, max: number): string | null {
  if (typeof claim !== 'string' || claim.includes('\0') || !claim.isWellFormed()) return null;
  const text = claim.slice(0, max);
  return text === '' || !text.isWellFormed() ? null : text;
}

function emailOf(claim: unknown): string | null {
  const email = textOf(claim, maxEmailLength);
  return email !== null && email === claim && emailShape.test(email) ? email : null;
}

/** Hashes the `jti`, or else the signed content. Not the signature: an ECDSA signature can be changed into another valid one. */
function hashOf(token: string, { jti }: JWTPayload, { issuer, clientId }: Omit<ExpectedClaims, 'nonce'>): Buffer {
  // An empty `jti` does not distinguish tokens.
  const own = typeof jti === 'string' && jti !== '' ? ['jti', jti] : ['signed', token.slice(0, token.lastIndexOf('.'))];
  return createHash('sha256')
    .update(JSON.stringify([issuer, clientId, ...own]))
    .digest();
}
