import Type from 'typebox';
import type { EngagementId } from '../../platform/ids.ts';
import { body, nullable, oneOf, timestamp, uuid } from '../../platform/schema.ts';
import type { Party } from '../../identity/party.ts';

/**
 * What the two sides of an engagement send each other to set up a call. Usher passes signals on without interpreting them:
 *
 *   ready        the sender is ready to start the call, or to restart it
 *   description  a session description
 *   candidate    addresses at which the sender may be reachable
 *   state        whether the sender's microphone and camera are on
 *   hangup       the sender has ended the call
 */
const signalKinds = ['ready', 'description', 'candidate', 'state', 'hangup'] as const;

/** Limit of the request body. A session description has a few thousand bytes. */
export const signalBytes = 64 * 1024;

export const signalInput = body({
  call_id: uuid<'call'>(),
  kind: oneOf(signalKinds),
  data: nullable(Type.Object({}, { description: 'Data of the kind, passed on unchanged' })),
});
type SignalInput = Type.Static<typeof signalInput>;

/** The feed item that the other side receives. */
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
