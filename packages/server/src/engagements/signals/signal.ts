import Type from 'typebox';
import type { EngagementId } from '../../platform/ids.ts';
import { body, nullable, oneOf, timestamp, uuid } from '../../platform/schema.ts';
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

/** As the other side is sent it. */
export const signalItem = {
  type: 'engagement.signal',
  schema: Type.Object({
    engagement_id: uuid<'engagement'>(),
    sender: body({ type: oneOf(['visitor', 'operator'] as const) }),
    ...signalInput.properties,
    sent_at: timestamp,
  }),
} as const;

type Signal = Type.Static<typeof signalItem.schema>;

export function signalOf(engagement_id: EngagementId, sender: Party['kind'], input: SignalInput): Signal {
  const { call_id, kind, data } = input;
  return { engagement_id, sender: { type: sender }, call_id, kind, data, sent_at: new Date() };
}
