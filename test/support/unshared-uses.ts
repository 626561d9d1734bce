import type { UsesOfAll } from '../../packages/server/src/platform/limits/shared-uses.ts';

/** Limits of a process that is alone. */
export const unshared: UsesOfAll = {
  open: () => ({ stepOf: () => Infinity, announce: () => undefined }),
};
