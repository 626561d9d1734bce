import type { RateLimit } from '../../platform/rate-limit.ts';
import type { Directory } from '../directory.ts';
import type { Tokens } from '../tokens.ts';
import type { PasswordHasher } from './passwords/hasher.ts';

/** What the ways to sign in share. */
export interface SignInParts {
  readonly tokens: Tokens;
  readonly directory: Directory;
  /** Counts attempts by address. */
  readonly attempts: RateLimit;
  /** Counts passwords said, by whose they would be: one who has many addresses may not try more of them. */
  readonly guesses: RateLimit;
  readonly hasher: PasswordHasher;
  /** Goes before paths in links; empty: they are paths. */
  readonly publicUrl: string;
}
