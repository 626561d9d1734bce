import type { RateLimit } from '../../platform/rate-limit.ts';
import type { Directory } from '../directory.ts';
import type { Tokens } from '../tokens.ts';
import type { Guesses } from './guesses.ts';
import type { PasswordHasher } from './passwords/hasher.ts';

/** What the ways to sign in share. */
export interface SignInParts {
  readonly tokens: Tokens;
  readonly directory: Directory;
  /** Counts attempts by address. */
  readonly attempts: RateLimit;
  /** Counts wrong passwords. */
  readonly guesses: Guesses;
  readonly hasher: PasswordHasher;
  /** Goes before paths in links; empty: they are paths. */
  readonly publicUrl: string;
}
