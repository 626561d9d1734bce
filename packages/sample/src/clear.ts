import { act } from './act.ts';
import type { Action } from './action.ts';
import type { Host } from './host.ts';
import { stoppedReason } from './plan.ts';
import { players } from './scene.ts';
import type { Extent, UnderWay } from './world.ts';

/** Only users can begin something between a look and its end. After so many passes they are left to the next attempt. */
const mostPasses = 20;

/** Ends what goes on, as those who take part in it would. `false`: something is left. */
export async function clear(host: Host, extent: Extent): Promise<boolean> {
  for (const [index, id] of host.operatorIds.entries()) await act(goHome(id, index), host);
  for (let pass = 0; pass < mostPasses; pass += 1) {
    const found = await host.readUnderWay(extent);
    if (found.length === 0) return true;
    for (const each of found) await act(endOf(each), host);
  }
  return false;
}

function goHome(operatorId: string, index: number): Action {
  const media = players[index]?.media ?? ['text'];
  return { key: '', do: 'be present', operatorId, available: false, media, reason: stoppedReason };
}

function endOf({ what, id, visitorId, operatorId, origin, ofSite, isPlayer }: UnderWay): Action {
  const key = '';
  const visitor = { kind: 'visitor', id: visitorId } as const;
  const as = ofSite || operatorId === null || !isPlayer ? visitor : ({ kind: 'operator', id: operatorId } as const);
  switch (what) {
    case 'ticket':
      return { key, do: 'give up', ticketId: id, visitorId };
    case 'request': {
      const answer = origin === as.kind ? 'cancel' : 'decline';
      return { key, do: 'answer', requestId: id, as, answer, transfer: false };
    }
    case 'engagement':
      return { key, do: 'end', engagementId: id, as };
  }
}
