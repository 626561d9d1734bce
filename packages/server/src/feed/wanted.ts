import { atLeast } from '@usher/contract/roles';
import type { Wanted } from './log.ts';
import type { Stream } from './stream.ts';

/** Whom the readers may see things of. */
export function wantedBy(streams: Iterable<Stream>): Wanted {
  const visitors = new Set<string>();
  const operators = new Set<string>();
  const sites = new Set<string>();
  for (const { caller } of streams) {
    if (caller.kind === 'visitor') visitors.add(caller.visitorId);
    if (caller.kind !== 'operator') continue;
    operators.add(caller.operatorId);
    for (const [site, role] of caller.roles) if (atLeast(role, 'manager')) sites.add(site);
  }
  return { visitors: [...visitors], operators: [...operators], sites: [...sites] };
}
