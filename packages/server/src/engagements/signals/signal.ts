import Type from 'typebox';
import type { EngagementId } from '../../platform/ids.ts';
import { body, nullable, oneOf, uuid } from '../../platform/schema.ts';
import type { Party } from '../../routing/board/rules/answering.ts';

/**
 * What the two sides of an engagement say to each other to set up a call. Usher passes it on and understands none of it:
 *
 *   ready        the sender is there and would like to begin, or to begin anew
 *   description  a session description
 *   candidate    addresses at which the sender may be reached
 *   state        whether the sender's microphone and camera are on
 *   hangup       the sender has ended the call
 */
const signalKinds = ['ready', 'description', 'candidate', 'state', 'hangup'] as const;

/** Of a request. A session description is a few thousand bytes. */
export const signalBytes = 64 * 1024;

export const signalInput = body({
  call_id: uuid<'call'>(),
  kind: oneOf(signalKinds),
  data: nullable(Type.Object({}, { description: 'Whatever the kind needs: it is passed on as it is' })),
});
type SignalInput = Type.Static<typeof signalInput>;

/** As the other side hears it. */
export function told(engagementId: EngagementId, sender: Party['kind'], { call_id, kind, data }: SignalInput) {
  return { engagement_id: engagementId, sender: { type: sender }, call_id, kind, data, sent_at: new Date() };
}
