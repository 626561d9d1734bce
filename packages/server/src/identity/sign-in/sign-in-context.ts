import type { RateLimit } from '../../platform/limits/rate-limit.ts';
import type { Directory } from '../directory.ts';
import type { Tokens } from '../tokens.ts';
import type { Guesses } from './guesses.ts';
import type { PasswordHasher } from './passwords/hasher.ts';

/** What all sign-in routes share. */
export interface SignInContext {
  readonly tokens: Tokens;
  readonly directory: Directory;
  /** Limits sign-in attempts per client address. */
  readonly attempts: RateLimit;
  /** Limits wrong passwords. */
  readonly guesses: Guesses;
  readonly hasher: PasswordHasher;
  /** Prefix of links; if empty, links are paths. */
  readonly publicUrl: string;
}
