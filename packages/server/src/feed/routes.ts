import Type from 'typebox';
import { accountOf } from '../identity/access.ts';
import { crossOriginHeaders } from '../identity/cors.ts';
import type { Directory } from '../identity/directory.ts';
import { isDatabaseUnavailable } from '../platform/database/database.ts';
import type { App } from '../platform/http/http.ts';
import type { Log } from '../platform/log.ts';
import type { FeedAdmission } from './admission.ts';
import type { Feeds } from './feeds.ts';
import type { PresenceHolder } from './presence-holder.ts';

const description = `Server-Sent Events: everything the caller may see, as it happens. Operators are sent their offers,
engagements, messages and typing; managers everything on their sites; visitors their ticket and its position, their
engagement, messages and typing; all are sent the status of the site's queues. \`event\` is the type of an item, \`data\` is JSON:
an event as webhooks are sent it; or the state of a resource as its GET answers it, without \`href\` (\`queue_ticket.state\`,
\`engagement_request.state\`, \`transfer_request.state\`, \`transfer_ticket.state\`, \`engagement.state\`, \`operator.state\`,
\`media_upgrade_request.state\`, \`file.state\` of a deleted file); or \`queue.state\` (the fields of a queue that change by
themselves, and \`updated_at\`: if the queue is new to you or \`updated_at\` is newer than yours, read the queue by GET); or
\`engagement.signal\`, a message of the other side to set up a call.
The first item is \`feed.open\`: what you read by GET after it, together with the items that follow, is complete. To resume,
connect to any process with the last id as \`Last-Event-ID\`: you are sent the items you missed. \`feed.reset\` says that the
missed items are no longer known, or that the roles of the caller changed (\`reason\` \`access_changed\`): read everything again.
Ignore items of unknown types.`;

interface FeedRouteDependencies {
  readonly feeds: Feeds;
  readonly admission: FeedAdmission;
  readonly holder: PresenceHolder;
  readonly directory: Directory;
  readonly log: Log;
}

export function feedRoutes(app: App, { feeds, admission, holder, directory, log }: FeedRouteDependencies): void {
  app.get(
    '/feed',
    {
      config: { access: { operator: 'operator', visitor: true, site: 'none' } },
      exposeHeadRoute: false,
      schema: {
        tags: ['Live feed'],
        summary: 'Stream events and states live',
        description,
        headers: Type.Object({
          'last-event-id': Type.Optional(Type.String({ description: 'Id of the last item read' })),
        }),
        querystring: Type.Object({
          hold_presence: Type.Optional(
            Type.Boolean({
              description: "Renew the caller's presence while connected; it expires 30 s after the connection ends",
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
      // A response that is closed already emits no `close`, so its hold would never be released.
      if (query.hold_presence === true && !reply.raw.closed) {
        const holding = holder.hold(caller);
        reply.raw.once('close', () => holder.release(caller));
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
      // The deadline of the request has answered it meanwhile.
      if (reply.raw.headersSent) return feeds.leave(follower);
      reply.raw.writeHead(200, {
        ...(reply.getHeaders() as Record<string, string>),
        ...crossOrigin,
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        // A proxy that buffers would delay the items.
        'x-accel-buffering': 'no',
      });
      reply.raw.flushHeaders();
      reply.hijack();
      await feeds.serve(follower, opening).catch((error: unknown) => {
        if (!isDatabaseUnavailable(error)) log.error({ err: error, request_id: request.id }, 'live feed failed');
        reply.raw.destroy();
      });
    },
  );
}
