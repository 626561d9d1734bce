import type { FastifyRequest } from 'fastify';
import { addressKey } from '../../platform/limits/rate-limit.ts';
import { operatorOf, tokenLimited } from '../access.ts';
import type { SignInContext } from '../sign-in/sign-in-context.ts';
import type { OperatorInput } from './operator.ts';

/**
 * Hashes the password of a new operator. Hashing is slow on purpose, so it happens before the handler, whose transaction holds a
 * connection. The rate limit is the same as for accepting an invitation.
 */
export class FirstPasswords {
  readonly #signIn: Pick<SignInContext, 'hasher' | 'attempts'>;
  readonly #hashes = new WeakMap<FastifyRequest, string>();

  constructor(signIn: Pick<SignInContext, 'hasher' | 'attempts'>) {
    this.#signIn = signIn;
  }

  async prepare(request: FastifyRequest): Promise<void> {
    const { password } = request.body as OperatorInput;
    if (password === undefined) return;
    // As for API keys and invitations: a password outlasts the token and is not limited to its sites.
    if (operatorOf(request).limited) throw tokenLimited();
    this.#signIn.attempts.take(addressKey(request.ip));
    this.#hashes.set(request, await this.#signIn.hasher.hash(password));
  }

  /** Returns `null` if the operator is created without a password. */
  hashOf(request: FastifyRequest): string | null {
    return this.#hashes.get(request) ?? null;
  }
}
