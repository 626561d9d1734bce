import type { FastifyRequest } from 'fastify';
import { addressKey } from '../../platform/rate-limit.ts';
import { operatorOf, tokenLimited } from '../access.ts';
import type { SignInParts } from '../sign-in/parts.ts';
import type { OperatorInput } from './operator.ts';

/**
 * Hashes the password that a new operator is created with. Hashing is slow on purpose, so it is done before the handler, whose
 * transaction holds a connection. It is limited as the choice of a password by an invitation is.
 */
export class FirstPasswords {
  readonly #parts: Pick<SignInParts, 'hasher' | 'attempts'>;
  readonly #hashes = new WeakMap<FastifyRequest, string>();

  constructor(parts: Pick<SignInParts, 'hasher' | 'attempts'>) {
    this.#parts = parts;
  }

  async prepare(request: FastifyRequest): Promise<void> {
    const { password } = request.body as OperatorInput;
    if (password === undefined) return;
    // As keys and invitations: a way to sign in outlasts a token that was obtained for some sites only.
    if (operatorOf(request).limited) throw tokenLimited();
    this.#parts.attempts.take(addressKey(request.ip));
    this.#hashes.set(request, await this.#parts.hasher.hash(password));
  }

  /** `null`: the operator is created without a password. */
  hashOf(request: FastifyRequest): string | null {
    return this.#hashes.get(request) ?? null;
  }
}
