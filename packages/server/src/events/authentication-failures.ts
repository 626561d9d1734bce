/** Why a visitor is not who it says it is, or cannot be told to be. The code is stable; more may come. */
const authenticationFailures = {
  malformed_token: 'the ID token is none',
  unsigned: 'the ID token is not signed',
  algorithm_not_allowed: 'it is signed by an algorithm that is not asymmetric, or not known',
  unknown_key: 'it is signed with a key that the provider does not publish',
  bad_signature: 'the signature is not right',
  wrong_issuer: 'it was issued by another than the provider',
  wrong_audience: 'it was issued for another client',
  token_expired: 'it has expired, or was issued more than a day ago',
  token_not_yet_valid: 'it is not valid yet, or was issued in the future',
  missing_claim: 'it lacks a claim that every ID token has, or has it in a wrong form',
  nonce_mismatch: 'its nonce is not the one of the request',
  token_replayed: 'it has been used before',
  code_rejected: 'the provider refused the code, the verifier or the client',
  no_id_token: 'the provider gave no ID token for the code',
  provider_unreachable: 'the provider did not answer, or not in time',
  provider_misconfigured: 'what the provider says of itself does not fit, or cannot be used',
  provider_deleted: 'the provider was deleted meanwhile',
  error: 'something went wrong inside Usher',
} as const;

export type AuthenticationFailure = keyof typeof authenticationFailures;

export const authenticationFailuresInWords = Object.entries(authenticationFailures)
  .map(([code, meaning]) => `\`${code}\`: ${meaning}`)
  .join('; ');
