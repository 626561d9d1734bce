import { maxUrlLength } from '@usher/contract/limits';
import Type from 'typebox';
import { authenticationFailureDescription } from '../../../events/authentication-failures.ts';
import type { Trust } from '../../../identity/caller.ts';
import type { Violation } from '../../../platform/errors.ts';
import type { AccountId, Id, SiteId, VisitorId } from '../../../platform/ids.ts';
import { body, checked, nullable, oneOf, output, timestamp, uuid } from '../../../platform/schema.ts';
import type { ProviderId } from '../providers/provider.ts';

export type AuthenticationRequestId = Id<'authentication_request'>;

const byCode = ['redirect_uri', 'code_verifier'] as const;

export const requestInput = checked(
  body({
    provider_id: uuid<'visitor_authentication_provider'>(),
    id_token: Type.Optional(Type.String({ minLength: 1, maxLength: 16_384 })),
    code: Type.Optional(Type.String({ minLength: 1, maxLength: 4_096 })),
    redirect_uri: Type.Optional(
      Type.String({ minLength: 1, maxLength: maxUrlLength, description: 'With a code: one of the registered ones' }),
    ),
    code_verifier: Type.Optional(
      Type.String({
        pattern: String.raw`^[\w.~-]{43,128}$`,
        description: 'With a code: what its code_challenge (PKCE, S256) was made of',
      }),
    ),
    nonce: Type.Optional(
      Type.String({ minLength: 1, maxLength: 255, description: 'The nonce that the client had put into the token' }),
    ),
  }),
  violationsOfProof,
);

/** Either a token, or a code and what goes with it. */
function violationsOfProof(value: unknown): Violation[] {
  if (typeof value !== 'object' || value === null) return [];
  if (!('code' in value) && !('id_token' in value))
    return [{ attribute: '/id_token', detail: 'is required, unless there is a code' }];
  const needless = ['code', ...byCode].filter((field) => 'id_token' in value && field in value);
  if (needless.length > 0)
    return needless.map((field) => ({ attribute: `/${field}`, detail: 'does not go with an id_token' }));
  return byCode
    .filter((field) => 'code' in value && !(field in value))
    .map((field) => ({ attribute: `/${field}`, detail: 'is required with a code' }));
}

interface AnyProof {
  readonly nonce: string | null;
  /** How far the visitor's token was trusted; the new token is trusted as far. Left out by older versions. */
  readonly trust?: Trust;
}

/** What visitors have given to prove who they are. */
export type Proof =
  | (AnyProof & { readonly kind: 'id_token'; readonly idToken: string })
  | (AnyProof & {
      readonly kind: 'code';
      readonly code: string;
      readonly redirectUri: string;
      readonly verifier: string;
    });

export function proofOf(given: Type.Static<typeof requestInput>, trust: Trust): Proof {
  const { id_token: idToken, code, redirect_uri: redirectUri, code_verifier: verifier, nonce = null } = given;
  if (idToken !== undefined) return { kind: 'id_token', idToken, nonce, trust };
  if (code === undefined || redirectUri === undefined || verifier === undefined)
    throw new Error('the schema lets no such request in');
  return { kind: 'code', code, redirectUri, verifier, nonce, trust };
}

export function proofPurpose(id: AuthenticationRequestId): string {
  return `proof of the authentication request ${id}`;
}

export const requestOutput = output('VisitorAuthenticationRequest', {
  id: uuid<'authentication_request'>(),
  provider_id: uuid<'visitor_authentication_provider'>(),
  visitor_id: uuid<'visitor'>(),
  state: oneOf(['pending', 'succeeded', 'failed'] as const),
  fail_reason: nullable(Type.String({ description: authenticationFailureDescription })),
  created_at: timestamp,
  updated_at: timestamp,
});

export type RequestRow = Type.Static<typeof requestOutput>;

/** One that a process has taken to decide it. */
export interface TakenRequest {
  readonly id: AuthenticationRequestId;
  readonly accountId: AccountId;
  readonly siteId: SiteId;
  readonly visitorId: VisitorId;
  readonly providerId: ProviderId;
  /** Sealed for `proofPurpose`. */
  readonly proof: Buffer;
  /** Of this and those who had it before. */
  readonly attempts: number;
}
