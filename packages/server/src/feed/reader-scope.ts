import { atLeast } from '@usher/contract/roles';
import type { ReaderScope } from './log.ts';
import type { Stream } from './stream.ts';

/** Whose events the readers of these streams may see. */
export function readerScopeOf(streams: Iterable<Stream>): ReaderScope {
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
