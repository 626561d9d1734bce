import { media, type Medium } from '@usher/contract/media';
import Type from 'typebox';
import { accountOf } from '../identity/access.ts';
import type { App } from '../platform/http.ts';
import { list, mediumList, nullable, output, timestamp, uuid } from '../platform/schema.ts';
import type { QueueOutput } from './queue.ts';
import type { SiteQueues } from './site-queues.ts';

const availabilityOutput = output('SiteAvailability', {
  open: Type.Boolean({ description: 'Whether a queue would let a visitor in now' }),
  media: Type.Unsafe<Medium[]>({ ...mediumList, description: 'By what: all that the open queues let in' }),
  staffed_media: Type.Unsafe<Medium[]>({
    ...mediumList,
    description: 'By what an operator who is available now, busy or not, could serve a visitor',
  }),
  opens_at: Type.Unsafe<Date | null>({
    ...nullable(timestamp),
    description: 'When the first queue opens by its hours; null while one is open by them, or if none ever will be',
  }),
});

/**
 * Whether it is of any use to ask for somebody, for pages that show a button and have no visitor yet. Answered from memory:
 * every page of a site asks every few seconds, and most that ask never come in.
 */
export function availabilityRoute(app: App, siteQueues: SiteQueues): void {
  app.get(
    '/sites/:site_id/availability',
    {
      config: {
        access: { operator: 'operator', visitor: true, application: 'publishable', site: 'params.site_id' },
      },
      schema: {
        tags: ['Queues'],
        summary: 'Whether a visitor would be let in now, and by which media',
        description:
          'For a button on a page, before there is a visitor: a publishable application token is enough. With queue_ids of these queues alone, else of all of the site.',
        params: Type.Object({ site_id: uuid<'site'>() }),
        querystring: Type.Object({ queue_ids: Type.Optional(list(uuid<'queue'>(), { minItems: 1 })) }),
        response: { 200: availabilityOutput },
      },
    },
    async (request) => {
      const { queue_ids: wanted } = request.query;
      const account = accountOf(request);
      const { site_id: siteId } = request.params;
      const queues = await siteQueues.list(account, siteId);
      const { staffedMedia, opensAt } = await siteQueues.outlook(account, siteId, wanted);
      return {
        ...availabilityOf(wanted === undefined ? queues : queues.filter(({ id }) => wanted.includes(id))),
        staffed_media: [...staffedMedia],
        opens_at: opensAt === null ? null : new Date(opensAt),
      };
    },
  );
}

function availabilityOf(
  queues: readonly QueueOutput[],
): Pick<Type.Static<typeof availabilityOutput>, 'open' | 'media'> {
  const opened = queues.filter(({ status }) => status === 'opened');
  const letIn = new Set(opened.flatMap(({ available_properties }) => available_properties.media));
  return { open: opened.length > 0, media: media.filter((medium) => letIn.has(medium)) };
}
