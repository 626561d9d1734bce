import Type from 'typebox';
import { accountOf } from '../identity/access.ts';
import { crossOriginHeaders } from '../identity/cors.ts';
import type { Directory } from '../identity/directory.ts';
import { isDatabaseUnavailable } from '../platform/database.ts';
import type { App } from '../platform/http.ts';
import type { Log } from '../platform/log.ts';
import type { FeedAdmission } from './admission.ts';
import type { Feeds } from './feeds.ts';
import type { PresenceHolder } from './presence-holder.ts';

const description = `Server-Sent Events: everything the caller may see, as it happens. An operator's offers, engagements,
messages and typing; for managers all of the site; a visitor's ticket and its position, engagement, messages and typing;
the status of the site's queues. \`event\` is the type of an item, \`data\` JSON: an event as webhooks carry it, or a thing
as its GET answers it, without \`href\` (\`queue_ticket.state\`, \`engagement_request.state\`, \`transfer_request.state\`,
\`transfer_ticket.state\`, \`engagement.state\`, \`operator.state\`, \`media_upgrade_request.state\`,
\`file.state\` of one that was deleted), or \`queue.state\`
(what of a queue changes by itself, and \`updated_at\`: one you do not know, or a newer one, is to be read by GET), or
\`engagement.signal\`, what the other side says about a call.
The first item is \`feed.open\`: what is read by GET after it is complete together with what follows. Connect again with the
last id as \`Last-Event-ID\`, to any process, to be sent what was missed. \`feed.reset\` says that this is not known any more,
or that the caller has other roles now (\`reason\` \`access_changed\`): read anew. Items of a kind you do not know are to be passed over.`;

interface FeedRouteParts {
  readonly feeds: Feeds;
  readonly admission: FeedAdmission;
  readonly holder: PresenceHolder;
  readonly directory: Directory;
  readonly log: Log;
}

export function feedRoutes(app: App, { feeds, admission, holder, directory, log }: FeedRouteParts): void {
  app.get(
    '/feed',
    {
      config: { access: { operator: 'operator', visitor: true, site: 'none' } },
      exposeHeadRoute: false,
      schema: {
        tags: ['Live feed'],
        summary: 'What happens, as it happens',
        description,
        headers: Type.Object({
          'last-event-id': Type.Optional(Type.String({ description: 'Id of the last item read' })),
        }),
        querystring: Type.Object({
          hold_presence: Type.Optional(
            Type.Boolean({
              description: "Renew the caller's presence while connected; afterwards it runs out in 30 s",
            }),
          ),
          last_event_id: Type.Optional(Type.String({ description: 'For clients that cannot send the header' })),
        }),
        response: { 200: Type.Unsafe<void>({ type: 'string', description: 'text/event-stream' }) },
      },
    },
    async (request, reply) => {
      const { caller, query } = request;
      await admission.admit({ caller, address: request.ip, response: reply.raw });
      // One that is gone already does not close again: nobody would let go.
      if (query.hold_presence === true && !reply.raw.closed) {
        const holding = holder.hold(caller);
        reply.raw.once('close', () => holder.letGo(caller));
        await holding;
      }
      const lastId = request.headers['last-event-id'] ?? query.last_event_id ?? null;
      const opening = {
        response: reply.raw,
        caller,
        header: request.headers.authorization ?? '',
        lastId,
      };
      const crossOrigin = await crossOriginHeaders(directory, request);
      const follower = await feeds.prepare(accountOf(request), lastId);
      reply.raw.writeHead(200, {
        ...(reply.getHeaders() as Record<string, string>),
        ...crossOrigin,
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        // A proxy that gathers what it passes on would keep it from being live.
        'x-accel-buffering': 'no',
      });
      reply.raw.flushHeaders();
      reply.hijack();
      await feeds.serve(follower, opening).catch((error: unknown) => {
        if (!isDatabaseUnavailable(error)) log.error({ err: error, request_id: request.id }, 'a feed failed');
        reply.raw.destroy();
      });
    },
  );
}
