import { maxUrlLength } from '@usher/contract/limits';
import Type from 'typebox';
import { authenticationFailureDescription } from '../../../events/authentication-failures.ts';
import type { Trust } from '../../../identity/caller.ts';
import type { Violation } from '../../../platform/errors.ts';
import type { AccountId, Id, SiteId, VisitorId } from '../../../platform/ids.ts';
import { body, checked, nullable, oneOf, output, timestamp, uuid } from '../../../platform/schema.ts';
import type { ProviderId } from '../providers/provider.ts';

export type AuthenticationRequestId = Id<'authentication_request'>;

const codeFields = ['redirect_uri', 'code_verifier'] as const;

export const requestInput = checked(
  body({
    provider_id: uuid<'visitor_authentication_provider'>(),
    id_token: Type.Optional(Type.String({ minLength: 1, maxLength: 16_384 })),
    code: Type.Optional(Type.String({ minLength: 1, maxLength: 4_096 })),
    redirect_uri: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: maxUrlLength,
        description: 'With a code: one of the registered redirect URIs',
      }),
    ),
    code_verifier: Type.Optional(
      Type.String({
        pattern: String.raw`^[\w.~-]{43,128}$`,
        description: 'With a code: the verifier of its code_challenge (PKCE, S256)',
      }),
    ),
    nonce: Type.Optional(
      Type.String({ minLength: 1, maxLength: 255, description: 'The nonce that the client requested for the token' }),
    ),
  }),
  violationsOfProof,
);

/** Requires either an ID token, or a code with its other fields. */
function violationsOfProof(value: unknown): Violation[] {
  if (typeof value !== 'object' || value === null) return [];
  if (!('code' in value) && !('id_token' in value))
    return [{ attribute: '/id_token', detail: 'is required if there is no code' }];
  const excess = ['code', ...codeFields].filter((field) => 'id_token' in value && field in value);
  if (excess.length > 0)
    return excess.map((field) => ({ attribute: `/${field}`, detail: 'cannot be combined with id_token' }));
  return codeFields
    .filter((field) => 'code' in value && !(field in value))
    .map((field) => ({ attribute: `/${field}`, detail: 'is required with code' }));
}

interface ProofBase {
  readonly nonce: string | null;
  /** The trust level of the visitor's token; the new token gets the same. Older versions did not store it. */
  readonly trust?: Trust;
}

/** What a visitor sent as proof of their identity. */
export type Proof =
  | (ProofBase & { readonly kind: 'id_token'; readonly idToken: string })
  | (ProofBase & {
      readonly kind: 'code';
      readonly code: string;
      readonly redirectUri: string;
      readonly verifier: string;
    });

export function proofOf(given: Type.Static<typeof requestInput>, trust: Trust): Proof {
  const { id_token: idToken, code, redirect_uri: redirectUri, code_verifier: verifier, nonce = null } = given;
  if (idToken !== undefined) return { kind: 'id_token', idToken, nonce, trust };
  if (code === undefined || redirectUri === undefined || verifier === undefined)
    throw new Error('the schema must not accept this request');
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

/** A request that a process has claimed in order to decide it. */
export interface ClaimedRequest {
  readonly id: AuthenticationRequestId;
  readonly accountId: AccountId;
  readonly siteId: SiteId;
  readonly visitorId: VisitorId;
  readonly providerId: ProviderId;
  /** Sealed for `proofPurpose`. */
  readonly proof: Buffer;
  /** Includes the current attempt. */
  readonly attempts: number;
}
