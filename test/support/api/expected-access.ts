import { atLeast, type Role } from '@usher/contract/roles';
import type { Access } from '../../../packages/server/src/identity/declared-access.ts';

export type CallerKind =
  'nobody' | 'garbage' | 'expired' | 'visitor' | 'publishable' | 'secret' | Role | 'elsewhere' | 'stranger';
export const callerKinds: readonly CallerKind[] = [
  'nobody',
  'garbage',
  'expired',
  'visitor',
  'publishable',
  'secret',
  'operator',
  'manager',
  'super_manager',
  'elsewhere',
  'stranger',
];

/** The response that a route's declaration promises to a caller of this kind. */
export function expectedAccess(access: Access, kind: CallerKind): 'allowed' | 401 | 403 | 404 {
  if (access.public) return 'allowed';
  switch (kind) {
    case 'nobody':
    case 'garbage':
    case 'expired':
      return 401;
    case 'visitor':
      return access.visitor === true ? 'allowed' : 403;
    case 'publishable':
    case 'secret':
      return access.application === 'publishable' || access.application === kind ? 'allowed' : 403;
    case 'elsewhere':
    case 'stranger':
      if (access.operator === undefined) return 403;
      return access.site === 'none' || access.site === 'anywhere' ? 'allowed' : 404;
    default:
      if (access.operator === undefined) return 403;
      return access.site === 'none' || atLeast(kind, access.operator) ? 'allowed' : 403;
  }
}
