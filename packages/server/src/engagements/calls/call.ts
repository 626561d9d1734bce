import Type from 'typebox';
import { body, nullable, oneOf, output, timestamp, uuid } from '../../platform/schema.ts';

const described = (description: string) => Type.Unsafe<Date | null>({ ...nullable(timestamp), description });

export const callOutput = output('EngagementCall', {
  id: uuid<'engagement_call'>(),
  sub_engagement_id: uuid<'sub_engagement'>(),
  started_at: Type.Unsafe<Date>({ ...timestamp, description: 'When the engagement became a call' }),
  connected_at: described('When a side first said that the two were connected; null: they never were'),
  ended_at: nullable(timestamp),
  ended_by: Type.Unsafe<'visitor' | 'operator' | null>({
    ...nullable(oneOf(['visitor', 'operator'])),
    description: "Who hung up; null: the call goes on, or has ended with the engagement or the operator's part in it",
  }),
});

export const callInput = body({
  action: Type.Unsafe<'connect' | 'end'>({
    ...oneOf(['connect', 'end']),
    description: 'connect: the sides are connected; the first time counts. end: the engagement goes on as text',
  }),
});

export type CallRow = Type.Static<typeof callOutput>;
