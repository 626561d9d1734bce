import { openCarrier } from '../carriers/carriers.ts';
import type { Hints } from '../events/hints.ts';
import type { Events } from '../events/room.ts';
import type { Identity } from '../identity/room.ts';
import { GuardedFetcher } from '../platform/outbound/guarded-fetcher.ts';
import { pools } from '../platform/database/pools.ts';
import type { Platform, Room } from '../platform/room.ts';
import { listeningUrl } from '../platform/server-url.ts';
import type { Routing } from '../routing/room.ts';
import { callRoutes } from './calls/routes.ts';
import { appendIndications, appendVisitorEventBatch } from './event-batches-store.ts';
import { openFileStore } from './files/open-file-store.ts';
import { startFileService } from './files/file-service.ts';
import type { FileStore } from './files/file-store.ts';
import { fileRoutes } from './files/routes.ts';
import { sweepFiles } from './files/sweep.ts';
import { iceServerRoutes } from './ice-servers/routes.ts';
import { mediaUpgradeRoutes } from './media-upgrades/routes.ts';
import { Messages } from './messages/messages.ts';
import { messageRoutes } from './messages/routes.ts';
import { sendSystemMessage, systemMessageRoutes } from './messages/system-message.ts';
import { requestRoutes } from './requests/routes.ts';
import { engagementRoutes } from './routes.ts';
import { signalRoutes } from './signals/routes.ts';
import { sipDomainRoutes } from './sip-domains/routes.ts';
import { carrierRoutes } from './sms/carrier-routes.ts';
import { openCarrierNetwork } from './sms/open-network.ts';
import { smsRoutes } from './sms/routes.ts';
import { startSms, type SmsService } from './sms/service.ts';
import { transferRoutes } from './transfers/routes.ts';
import { typingRoutes, type TypingWrites } from './typing/routes.ts';
import { Authentications } from './visitor-authentication/authentications.ts';
import { providerRoutes } from './visitor-authentication/providers/routes.ts';
import { authenticationRequestRoutes } from './visitor-authentication/requests/routes.ts';
import { dropOldAuthentications } from './visitor-authentication/requests/store.ts';
import { visitorEventRoutes, type VisitorEventWrites } from './visitor-events.ts';
import { EngagementWrites } from './writes.ts';

export interface Engagements {
  readonly fileStore: FileStore;
}

interface EngagementsDependencies {
  readonly identity: Identity;
  readonly events: Events;
  readonly routing: Routing;
}

export function openEngagements(platform: Platform, dependencies: EngagementsDependencies): Room & Engagements {
  const { config, database, lookups, log, lookup, guard, metrics, diskSpace } = platform;
  const { addressOf, sealer, tokens } = dependencies.identity;
  const { hints, attacher } = dependencies.events;
  const { turns } = dependencies.routing;
  const { sql } = database;
  const fileStore = openFileStore(config, log, diskSpace);
  const files = startFileService({ sql, fileStore, scanner: config.scanner, hints, log, metrics, lookup });
  const batches = openBatches(platform, hints);
  const sms = openSms(platform, dependencies);
  const authentications = startAuthentications(platform, dependencies);
  return {
    fileStore,
    async routes(app) {
      requestRoutes(app, { turns, attacher, addressOf, tokens });
      engagementRoutes(app, turns);
      transferRoutes(app, turns, attacher);
      messageRoutes(app, batches.messages, () => config.publicUrl || listeningUrl(app.server.address(), config));
      systemMessageRoutes(app);
      typingRoutes(app, hints, batches.typing);
      mediaUpgradeRoutes(app, turns);
      callRoutes(app, turns);
      signalRoutes(app, lookups, platform.sharedUses);
      iceServerRoutes(app, config.ice);
      visitorEventRoutes(app, batches.visitorEvents);
      fileRoutes(app, files);
      providerRoutes(app, { guard, sealer });
      authenticationRequestRoutes(app, { sealer, authentications });
      sipDomainRoutes(app);
      smsRoutes(app, sms);
      if (sms !== null) await carrierRoutes(app, sms);
    },
    sweeps: {
      expired: {
        drop_files: async ({ now }, shouldContinue) => sweepFiles(sql, fileStore, now, shouldContinue),
        drop_authentications: async ({ now }, shouldContinue) => dropOldAuthentications(sql, now, shouldContinue),
      },
    },
    async close() {
      await authentications.stop();
      await sms?.stop();
      await files.stop();
      await batches.stop();
    },
  };
}

/** Opens what writes to engagements in batches, over connections of its own. */
function openBatches({ database, log }: Platform, hints: Hints) {
  const sql = database.connect(pools.batches);
  const messages = new Messages({ sql, hints, log });
  const typing: TypingWrites = new EngagementWrites({
    sql,
    log,
    subject: 'typing indicators',
    onCommitted: (accountId, writes) => hints.notify(accountId, writes),
    statement: appendIndications,
  });
  const visitorEvents: VisitorEventWrites = new EngagementWrites({
    sql,
    log,
    subject: 'visitor events',
    // The hint is sent with the response, as for a request with an Idempotency-Key, which commits after its handler.
    onCommitted: () => undefined,
    statement: appendVisitorEventBatch,
  });
  return {
    messages,
    typing,
    visitorEvents,
    async stop(): Promise<void> {
      await Promise.all([messages.stop(), typing.stop(), visitorEvents.stop()]);
      await sql.end({ timeout: 1 });
    },
  };
}

/** `null`: no carrier is configured. */
function openSms(platform: Platform, { events, routing }: EngagementsDependencies): SmsService | null {
  const { config, database, changes, log, metrics, lookup } = platform;
  const carrier = openCarrier(config, openCarrierNetwork(lookup));
  if (carrier === null) return null;
  const sql = database.connect(pools.sms);
  const sms = startSms({
    carrier,
    sql,
    turns: routing.turns,
    changes,
    log,
    registry: metrics.registry,
    onCommitted: (accountId) => events.hints.notify(accountId),
  });
  return {
    ...sms,
    async stop() {
      await sms.stop();
      await sql.end({ timeout: 1 });
    },
  };
}

function startAuthentications(
  { database, shares, log, guard }: Platform,
  { identity, events }: EngagementsDependencies,
): Authentications {
  return new Authentications({
    sql: database.sql,
    sqlOf: (accountId) => shares.poolOf(database.sql, accountId),
    log,
    tokens: identity.tokens,
    sealer: identity.sealer,
    fetcher: new GuardedFetcher({ guard, plainHttp: 'to allowed ranges', holder: 'identity providers' }),
    // The operator's message is written in the transaction that decides the request.
    notifyOperator: async (sql, message) =>
      void (await sendSystemMessage(sql, { ...message, type: 'visitor_authentication' })),
    onDecided: (accountId) => events.hints.notify(accountId),
  });
}
