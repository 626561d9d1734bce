import Type from 'typebox';
import { body, nullable, oneOf, output, timestamp, uuid } from '../../platform/schema.ts';

const describedTime = (description: string) => Type.Unsafe<Date | null>({ ...nullable(timestamp), description });

export const callOutput = output('EngagementCall', {
  id: uuid<'engagement_call'>(),
  sub_engagement_id: uuid<'sub_engagement'>(),
  started_at: Type.Unsafe<Date>({ ...timestamp, description: 'When the engagement became a call' }),
  connected_at: describedTime('When a side first reported that the call is connected; null: it never connected'),
  ended_at: nullable(timestamp),
  ended_by: Type.Unsafe<'visitor' | 'operator' | null>({
    ...nullable(oneOf(['visitor', 'operator'])),
    description: 'Who hung up; null: the call is active, or ended with the engagement or with a transfer',
  }),
});

export const callInput = body({
  action: Type.Unsafe<'connect' | 'end'>({
    ...oneOf(['connect', 'end']),
    description:
      'connect: reports that the sides are connected; only the first report counts. end: hangs up; the engagement continues as text',
  }),
});

export type CallRow = Type.Static<typeof callOutput>;
