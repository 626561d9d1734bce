/**
 * postgres.js 3.4.9, patched at load time where it mishandles a lost connection (docs/decisions/0003) and where it is slow
 * (the same page). Each patch says what goes wrong without it and has a test in test/platform/driver*.test.ts. If a release changes
 * the patched code, Usher refuses to start: check which patches are still needed, and delete the others.
 */
export interface Patch {
  readonly file: 'connection.js' | 'index.js' | 'query.js' | 'queue.js' | 'result.js';
  readonly was: string;
  readonly is: string;
}
