/** Why the authentication of a visitor failed. The codes are stable; more may be added. */
const authenticationFailures = {
  malformed_token: 'the ID token is malformed',
  unsigned: 'the ID token is not signed',
  algorithm_not_allowed: 'the ID token is signed with an unsupported or symmetric algorithm',
  unknown_key: 'the ID token is signed with a key that the provider does not publish',
  bad_signature: 'the signature of the ID token is invalid',
  wrong_issuer: 'the ID token has another issuer than the provider',
  wrong_audience: 'the ID token was issued for another client',
  token_expired: 'the ID token has expired, or was issued more than a day ago',
  token_not_yet_valid: 'the ID token is not valid yet, or was issued in the future',
  missing_claim: 'the ID token lacks a required claim, or the claim is malformed',
  nonce_mismatch: 'the nonce of the ID token differs from the nonce of the request',
  token_replayed: 'the ID token has been used before',
  code_rejected: 'the provider refused the code, the verifier or the client',
  no_id_token: 'the provider returned no ID token for the code',
  provider_unreachable: 'the provider did not answer in time',
  provider_misconfigured: 'the metadata of the provider is wrong or cannot be used',
  provider_deleted: 'the provider was deleted in the meantime',
  error: 'an internal error of Usher',
} as const;

export type AuthenticationFailure = keyof typeof authenticationFailures;

export const authenticationFailureDescription = Object.entries(authenticationFailures)
  .map(([code, meaning]) => `\`${code}\`: ${meaning}`)
  .join('; ');
