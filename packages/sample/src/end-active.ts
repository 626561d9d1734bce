import { act } from './act.ts';
import type { Action } from './action.ts';
import type { Host } from './host.ts';
import { stoppedReason } from './plan.ts';
import { players } from './scene.ts';
import type { Scope, ActiveItem } from './world.ts';

/** Users may start something new between two passes. After this many passes the rest is left to the next attempt. */
const maxPasses = 20;

/** Ends active tickets, requests and engagements in the name of a participant. `false`: some remain. */
export async function endActive(host: Host, scope: Scope): Promise<boolean> {
  for (const [index, id] of host.operatorIds.entries()) await act(goOffline(id, index), host);
  for (let pass = 0; pass < maxPasses; pass += 1) {
    const found = await host.readActive(scope);
    if (found.length === 0) return true;
    for (const each of found) await act(endOf(each), host);
  }
  return false;
}

function goOffline(operatorId: string, index: number): Action {
  const media = players[index]?.media ?? ['text'];
  return { key: '', do: 'set presence', operatorId, available: false, media, reason: stoppedReason };
}

function endOf({ kind, id, visitorId, operatorId, origin, ofSite, isPlayer }: ActiveItem): Action {
  const key = '';
  const visitor = { kind: 'visitor', id: visitorId } as const;
  const as = ofSite || operatorId === null || !isPlayer ? visitor : ({ kind: 'operator', id: operatorId } as const);
  switch (kind) {
    case 'ticket':
      return { key, do: 'abandon', ticketId: id, visitorId };
    case 'request': {
      const answer = origin === as.kind ? 'cancel' : 'decline';
      return { key, do: 'answer', requestId: id, as, answer, transfer: false };
    }
    case 'engagement':
      return { key, do: 'end', engagementId: id, as };
  }
}
