import { media, type Medium } from '@usher/contract/media';
import Type from 'typebox';
import { accountOf } from '../identity/access.ts';
import type { App } from '../platform/http/http.ts';
import { list, mediumList, nullable, output, timestamp, uuid } from '../platform/schema.ts';
import type { QueueOutput } from './queue.ts';
import type { SiteQueues } from './site-queues.ts';

const availabilityOutput = output('SiteAvailability', {
  open: Type.Boolean({ description: 'Whether a queue admits a visitor now' }),
  media: Type.Unsafe<Medium[]>({ ...mediumList, description: 'The media that the open queues admit' }),
  staffed_media: Type.Unsafe<Medium[]>({
    ...mediumList,
    description: 'The media that at least one available operator, busy or not, takes',
  }),
  opens_at: Type.Unsafe<Date | null>({
    ...nullable(timestamp),
    description: 'When the hours of the first queue begin; null if a queue is within its hours, or if none will be',
  }),
});

/**
 * Tells a page whether to show its chat button, before there is a visitor. Answered from memory, because every open page of a site
 * polls it every few seconds and most never enqueue.
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
        summary: 'Whether a queue admits visitors now, and for which media',
        description:
          'For a button on a page, before there is a visitor: a publishable application token suffices. queue_ids limits it to these queues; default: all queues of the site.',
        params: Type.Object({ site_id: uuid<'site'>() }),
        querystring: Type.Object({ queue_ids: Type.Optional(list(uuid<'queue'>(), { minItems: 1 })) }),
        response: { 200: availabilityOutput },
      },
    },
    async (request) => {
      const { queue_ids: queueIds } = request.query;
      const account = accountOf(request);
      const { site_id: siteId } = request.params;
      const site = await siteQueues.site(account, siteId);
      const { staffedMedia, opensAt } = site.outlook(queueIds);
      return {
        ...availabilityOf(site.queues.filter(({ id }) => queueIds === undefined || queueIds.includes(id))),
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
  const admitted = new Set(opened.flatMap(({ available_properties }) => available_properties.media));
  return { open: opened.length > 0, media: media.filter((medium) => admitted.has(medium)) };
}
