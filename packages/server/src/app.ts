import { installEdge } from './edge.ts';
import { openEngagements } from './engagements/room.ts';
import { eventSchemas } from './events/make-event.ts';
import { openEvents } from './events/room.ts';
import { feedItems } from './feed/catalogue.ts';
import { openFeed } from './feed/room.ts';
import { openIdentity } from './identity/room.ts';
import { openMcp } from './mcp/room.ts';
import { createApp } from './platform/http/create-app.ts';
import type { App } from './platform/http/http.ts';
import type { Metrics } from './platform/watching/metrics.ts';
import { openPlatform, type ProcessResources, type Room, type Sweeps } from './platform/room.ts';
import { openQueues } from './queues/room.ts';
import { openRouting } from './routing/room.ts';
import { openSample } from './sample/room.ts';
import type { Pace } from './sample/simulations.ts';
import { schedules } from './schedules/room.ts';
import { openSiteDeletion } from './site-deletion/room.ts';
import { openWebhooks } from './webhooks/room.ts';

interface BuiltApp {
  readonly app: App;
  /** The periodic tasks of all rooms, in the order of the rooms. */
  readonly sweeps: readonly Sweeps[];
  readonly metrics: Metrics;
}

/** Opens the rooms, each with the earlier rooms that it uses, and registers their routes behind the common hooks (`edge.ts`). */
export async function buildApp(resources: ProcessResources, samplePace: Partial<Pace> = {}): Promise<BuiltApp> {
  const { log, database, diskSpace, config } = resources;
  const app = createApp({
    log,
    sql: database.sql,
    diskSpace,
    trustProxy: config.trustProxy,
    publicUrl: config.publicUrl,
  });
  const rooms: Room[] = [];
  const open = <Opened extends Room>(room: Opened): Opened => {
    const { prepareToClose, close } = room;
    if (prepareToClose !== undefined) app.addHook('preClose', async () => prepareToClose());
    // Fastify calls these hooks in reverse order, so a room closes before the rooms that it uses.
    if (close !== undefined) app.addHook('onClose', async () => close());
    rooms.push(room);
    return room;
  };

  const platform = open(await openPlatform(resources, () => ({ events: eventSchemas(), feedItems })));
  const identity = open(await openIdentity(platform));
  const events = open(await openEvents(platform, identity));
  open(schedules);
  const queues = open(openQueues(platform));
  const routing = open(openRouting(platform, { identity, events, queues }));
  const engagements = open(openEngagements(platform, { identity, events, routing }));
  open(openFeed(platform, { identity, events, queues, routing }));
  open(openWebhooks(platform, { identity, events }));
  open(openSiteDeletion(platform, engagements));
  open(openSample(platform, { identity, engagements, app, pace: samplePace }));
  open(openMcp(platform, { identity, app }));

  await installEdge(app, { platform, identity, events });
  for (const { routes } of rooms) await routes?.(app);
  await app.ready();
  const sweeps = rooms.flatMap((room) => room.sweeps ?? []);
  return { app, sweeps, metrics: platform.metrics };
}
