import Type from 'typebox';
import { permittedEngagement } from '../permitted-engagement.ts';
import type { App } from '../../platform/http/http.ts';
import { nullable, output, timestamp, uuid } from '../../platform/schema.ts';
import { message } from '../../routing/notes.ts';
import { completedTransfers } from './store.ts';

const completedTransferOutput = output('CompletedTransfer', {
  id: Type.Unsafe<string>({ ...uuid<'engagement_request'>(), description: 'The id of the transfer request' }),
  from_operator_id: uuid<'operator'>(),
  from_operator_name: Type.Unsafe<string | null>({
    ...nullable(Type.String()),
    description:
      'The operator who transferred the engagement, possibly from another site; null if that operator was deleted',
  }),
  operator_id: Type.Unsafe<string>({ ...uuid<'operator'>(), description: 'The operator who took over' }),
  message: nullable(message),
  transferred_at: timestamp,
});

/** Transfers with the note from one operator to the next. Visitors must not see the notes, so they are not part of the engagement. */
export function completedTransferRoutes(app: App): void {
  app.get(
    '/engagements/:engagement_id/transfers',
    {
      config: { access: { operator: 'operator', site: 'resource', rule: 'took part or manages' } },
      schema: {
        tags: ['Transfers'],
        summary: 'List completed transfers of an engagement, oldest first',
        description: 'Each with the operator before and after. Transfers that were declined or canceled are left out.',
        params: Type.Object({ engagement_id: uuid<'engagement'>() }),
        response: { 200: Type.Object({ transfers: Type.Array(completedTransferOutput) }) },
      },
    },
    async (request) => {
      const engagement = await permittedEngagement(request, request.params.engagement_id);
      return { transfers: await completedTransfers(request.sql, engagement) };
    },
  );
}
