import type { TestContext } from 'node:test';
import { hashCosts } from '../../../packages/server/src/identity/secrets.ts';

/** Hashes of this process cost next to nothing. A hash names its own cost, so other processes check it as fast. */
const cheap = { N: 2 ** 6, r: 8, p: 1 };
const realCosts = { ...hashCosts };
Object.assign(hashCosts, { secret: cheap, password: cheap });

/** Gives new hashes their real cost, or this one for passwords, until the end of the test. */
export function useRealHashes(t: TestContext, password = realCosts.password): void {
  const before = { ...hashCosts };
  Object.assign(hashCosts, realCosts, { password });
  t.after(() => void Object.assign(hashCosts, before));
}
