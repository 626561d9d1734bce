import type { AuthenticationFailure } from '../../events/authentication-failures.ts';

/** The visitor could not be shown to be anybody. What the reason does not tell stands in the cause. */
export class AuthenticationFailed extends Error {
  override readonly name = 'AuthenticationFailed';
  readonly reason: AuthenticationFailure;

  constructor(reason: AuthenticationFailure, cause?: unknown) {
    super(`the authentication failed: ${reason}`, { cause });
    this.reason = reason;
  }
}
