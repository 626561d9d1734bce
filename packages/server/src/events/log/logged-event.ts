import Type from 'typebox';
import { nullable, oneOf, output, timestamp, uuid } from '../../platform/schema.ts';
import { eventTypes } from '../catalogue.ts';

export const loggedEventOutput = output('LoggedEvent', {
  id: uuid<'event'>(),
  type: oneOf(eventTypes),
  occurred_at: timestamp,
  site_id: nullable(uuid<'site'>()),
  engagement_id: nullable(uuid<'engagement'>()),
  visitor_id: nullable(uuid<'visitor'>()),
  operator_id: nullable(uuid<'operator'>()),
  event: Type.Unsafe<object>({
    type: 'object',
    additionalProperties: true,
    description: 'The payload that webhooks are sent, without its secrets',
  }),
});

/** An event of the log; `xid` and `seq` are its position there. */
export interface LoggedEvent extends Type.Static<typeof loggedEventOutput> {
  readonly xid: string;
  readonly seq: string;
}

export function newestFirst(a: LoggedEvent, b: LoggedEvent): number {
  return b.occurred_at.getTime() - a.occurred_at.getTime() || Number(b.seq) - Number(a.seq);
}
