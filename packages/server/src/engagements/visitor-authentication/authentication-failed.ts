import type { AuthenticationFailure } from '../../events/authentication-failures.ts';

/** The visitor could not be authenticated. `reason` is public; `cause` has the details, for the log only. */
export class AuthenticationFailed extends Error {
  override readonly name = 'AuthenticationFailed';
  readonly reason: AuthenticationFailure;

  constructor(reason: AuthenticationFailure, cause?: unknown) {
    super(`the authentication failed: ${reason}`, { cause });
    this.reason = reason;
  }
}
