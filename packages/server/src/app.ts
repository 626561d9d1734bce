import type { LookupFunction } from 'node:net';
import type { Config } from './config.ts';
import { WebhookAttacher } from './events/attach-webhooks.ts';
import { eventWebhooks } from './events/make-event.ts';
import { Hints } from './events/hints.ts';
import { beginEpochs } from './events/log-point.ts';
import { eventLogRoutes } from './events/log/routes.ts';
import { addressOfCallers } from './identity/address-of.ts';
import { LastUse } from './identity/access-tokens/last-use.ts';
import { accessTokenRoutes } from './identity/access-tokens/routes.ts';
import { apiKeyRoutes } from './identity/api-keys/routes.ts';
import { applicationTokenRoutes } from './identity/application-tokens/routes.ts';
import { installAudit } from './identity/audit/install-audit.ts';
import { auditRoutes } from './identity/audit/routes.ts';
import { startFeeds } from './feed/start-feeds.ts';
import { Authenticator } from './identity/authenticate.ts';
import { installCors } from './identity/cors.ts';
import { createDirectory, type Directory } from './identity/directory.ts';
import { installLenientSites } from './identity/lenient-requests.ts';
import { colleagueRoutes } from './identity/operators/colleague-routes.ts';
import { pictureRoutes } from './identity/operators/pictures/routes.ts';
import { operatorRoutes } from './identity/operators/routes.ts';
import { Guesses, guessLimits } from './identity/sign-in/guesses.ts';
import { PasswordHasher } from './identity/sign-in/passwords/hasher.ts';
import { signInRoutes } from './identity/sign-in/routes.ts';
import { Sealer } from './identity/sealer.ts';
import { Keyring } from './identity/signing-keys.ts';
import { siteRoutes } from './identity/sites/routes.ts';
import { teamRoutes } from './identity/teams/routes.ts';
import { Tokens } from './identity/tokens.ts';
import { VisitorGate } from './identity/visitors/gate.ts';
import { visitorRoutes } from './identity/visitors/routes.ts';
import type { AddressGuard } from './platform/address-guard.ts';
import { AddressHasher } from './platform/address-hasher.ts';
import type { ChangeFeed } from './platform/change-feed.ts';
import type { ClockWatch } from './platform/clock-watch.ts';
import type { Database } from './platform/database.ts';
import type { DatabaseSession } from './platform/database-session.ts';
import type { Room } from './platform/disk-room.ts';
import { docsRoutes } from './platform/docs.ts';
import { GuardedFetcher } from './platform/guarded-fetcher.ts';
import { healthRoutes } from './platform/health.ts';
import { createApp, type App } from './platform/http.ts';
import { installIdempotency } from './platform/idempotency.ts';
import type { AccountId } from './platform/ids.ts';
import type { Log } from './platform/log.ts';
import { createMetrics, metricsRoute, type Metrics } from './platform/metrics.ts';
import { apiDocument, describeRoutes } from './platform/openapi.ts';
import { pageRoutes } from './platform/pages.ts';
import { listeningUrl } from './platform/server-url.ts';
import { channelRoutes } from './queues/channels/routes.ts';
import { rankingRoutes } from './queues/rankings/routes.ts';
import { availabilityRoute } from './queues/availability.ts';
import { queueRoutes } from './queues/routes.ts';
import { intervalRoutes } from './routing/presence/intervals-routes.ts';
import { presenceRoutes } from './routing/presence/routes.ts';
import { reportRoutes } from './routing/reports/routes.ts';
import { statisticsConnections, statisticsRoutes } from './routing/statistics/routes.ts';
import { ticketRoutes } from './routing/tickets/routes.ts';
import { countTurns, watchTurns } from './routing/turn-metrics.ts';
import { Turns } from './routing/turns.ts';
import { FileDisk } from './engagements/files/disk.ts';
import { openFilesRoom } from './engagements/files/room.ts';
import { fileRoutes } from './engagements/files/routes.ts';
import { requestRoutes } from './engagements/requests/routes.ts';
import { callRoutes } from './engagements/calls/routes.ts';
import { mediaUpgradeRoutes } from './engagements/media-upgrades/routes.ts';
import { messageRoutes } from './engagements/messages/routes.ts';
import { sendSystemMessage, systemMessageRoutes } from './engagements/messages/system-message.ts';
import { engagementRoutes } from './engagements/routes.ts';
import { sipDomainRoutes } from './engagements/sip-domains/routes.ts';
import { Authentications } from './engagements/visitor-authentication/authentications.ts';
import type { TellEngagement } from './engagements/visitor-authentication/conclude-request.ts';
import { providerRoutes } from './engagements/visitor-authentication/providers/routes.ts';
import { authenticationRequestRoutes } from './engagements/visitor-authentication/requests/routes.ts';
import { carrierRoutes } from './engagements/sms/carrier-routes.ts';
import { twilioCarrier } from './engagements/sms/carriers/twilio.ts';
import { smsRoutes } from './engagements/sms/routes.ts';
import { startSms, type SmsService } from './engagements/sms/service.ts';
import { iceServerRoutes } from './engagements/ice-servers/routes.ts';
import { signalRoutes } from './engagements/signals/routes.ts';
import { transferRoutes } from './engagements/transfers/routes.ts';
import { typingRoutes } from './engagements/typing/routes.ts';
import { visitorEventRoutes } from './engagements/visitor-events.ts';
import { SiteQueues } from './queues/site-queues.ts';
import { sampleDataRoutes } from './sample/routes.ts';
import { Simulations, type Pace } from './sample/simulations.ts';
import { siteDeletionRoutes } from './site-deletion/routes.ts';
import { ApnsSender } from './webhooks/apns/sender.ts';
import { Courier } from './webhooks/dispatcher/courier.ts';
import { Dispatcher } from './webhooks/dispatcher/dispatcher.ts';
import { countDeliveries, watchDispatcher } from './webhooks/dispatcher/metrics.ts';
import { WebhookBook } from './webhooks/dispatcher/webhook-book.ts';
import { policyRoutes } from './schedules/routes.ts';
import { deliveryRoutes } from './webhooks/deliveries/routes.ts';
import { Recoveries } from './webhooks/recoveries/recoveries.ts';
import { recoveryRoutes } from './webhooks/recoveries/routes.ts';
import { statsRoutes } from './webhooks/stats/routes.ts';
import { RateLimit } from './platform/rate-limit.ts';
import { installDeadline } from './platform/request-deadline.ts';
import { installRequestLog } from './platform/request-log.ts';
import { installSettling } from './platform/settling.ts';
import { limitCallers } from './limit-callers.ts';
import { openOutgoing, type Outgoing } from './outgoing.ts';
import { eventTypeRoutes } from './webhooks/event-types.ts';
import { WebhookConnectors } from './webhooks/dispatcher/webhook-connectors.ts';
import { webhookRoutes } from './webhooks/registrations/routes.ts';

interface AppParts {
  readonly config: Config;
  readonly database: Database;
  readonly feed: ChangeFeed;
  readonly session: DatabaseSession;
  readonly clock: ClockWatch;
  readonly log: Log;
  /** Whether there is room on the disk of an embedded database and its files. */
  readonly room?: Room | null;
  /** How fast sample data lives; left out, as people do. */
  readonly samplePace?: Partial<Pace>;
}

/** Few and short: a lookup is one indexed row. While the database is away, each is told so at once and not after a pause. */
const lookupOptions = { max: 4, idle_timeout: 60, connect_timeout: 2, backoff: () => 0 };

/** The HTTP edge with every room's routes. What a hook adds to routes, it adds to those registered after it. */
export async function buildApp(parts: AppParts): Promise<App> {
  const { config, database, feed, session, clock, log, room = null, samplePace = {} } = parts;
  const app = createApp({ log, sql: database.sql, room, trustProxy: config.trustProxy });
  const metrics = createMetrics(database.sql, config.databasePoolSize);
  // What a request needs to know in the middle of a transaction comes over connections that no transaction holds.
  const lookups = database.connect(lookupOptions);
  app.addHook('onClose', async () => lookups.end({ timeout: 1 }));
  await beginEpochs(lookups, feed, log);
  const outgoing = openOutgoing(app, config, metrics);
  const { lookup, guard } = outgoing;
  const directory = createDirectory(lookups, feed);
  const siteQueues = new SiteQueues(database.sql, feed, clock);
  const hints = new Hints(lookups, feed, log);
  app.addHook('onClose', async () => hints.stop());
  const turns = startTurns({ app, database, feed, clock, log, siteQueues, hints, metrics });
  const disk = new FileDisk(config.dataDir, log, room);
  const files = openFilesRoom({ app, sql: database.sql, disk, scanner: config.scanner, hints, log, metrics, lookup });
  const sms = openSms({ app, config, database, feed, log, hints, metrics, turns, lookup });
  const tokens = new Tokens(new Keyring(lookups, feed), () => clock.steadyNow());
  const sealer = new Sealer(lookups);
  const attacher = new WebhookAttacher({ sql: lookups, sealer, sites: directory.sites, ...outgoing.attached });
  const authentications = startAuthentications({ app, database, log, hints, tokens, sealer, guard });

  startDispatcher({ app, config, database, feed, session, clock, log, hints, metrics, sealer, outgoing });

  const authenticator = openAuthenticator({ app, database, clock, log, tokens, directory });
  const addressOf = addressOfCallers(await AddressHasher.load(lookups));

  installRequestLog(app, log, metrics, (request) => request.caller.key);
  hintAfterChanges(app, hints);
  installCors(app, directory);
  const limits = limitCallers({ app, config, log, authenticator, metrics });
  installLenientSites(app, lookups);
  installSettling(app, feed);
  installAudit(app);
  installIdempotency(app, ({ caller }) => {
    // A publishable token is shared by strangers, who must not be given each other's answers.
    if (caller.kind === 'nobody' || (caller.kind === 'application' && caller.trust === 'publishable')) return null;
    return { accountId: caller.accountId, caller: caller.key };
  });
  installDeadline(app);
  await describeRoutes(app);

  const signIn = {
    tokens,
    directory,
    attempts: new RateLimit(config.rateLimitSignIn),
    guesses: new Guesses(guessLimits(config.rateLimitSignIn)),
    hasher: new PasswordHasher(),
    publicUrl: config.publicUrl,
  };
  signInRoutes(app, signIn);
  apiKeyRoutes(app);
  accessTokenRoutes(app);
  applicationTokenRoutes(app);
  siteRoutes(app, directory);
  teamRoutes(app);
  operatorRoutes(app, signIn);
  pictureRoutes(app, lookups, feed);
  colleagueRoutes(app);
  auditRoutes(app, config.eventRetentionDays);
  visitorRoutes(app, tokens, new VisitorGate(directory));
  policyRoutes(app);
  queueRoutes(app, siteQueues);
  availabilityRoute(app, siteQueues);
  rankingRoutes(app);
  channelRoutes(app);
  ticketRoutes(app, { turns, attacher, addressOf });
  presenceRoutes(app, turns);
  intervalRoutes(app);
  reportRoutes(app);
  openStatistics(app, database);
  requestRoutes(app, { turns, attacher, addressOf });
  engagementRoutes(app, turns);
  transferRoutes(app, turns, attacher);
  messageRoutes(app, () => config.publicUrl || listeningUrl(app.server.address(), config));
  systemMessageRoutes(app);
  typingRoutes(app, hints);
  mediaUpgradeRoutes(app, turns);
  callRoutes(app, turns);
  signalRoutes(app, lookups);
  iceServerRoutes(app, config.ice);
  visitorEventRoutes(app);
  startFeeds({ app, database, feed, log, siteQueues, hints, metrics, turns, authenticator, directory, sealer, limits });
  fileRoutes(app, files);
  providerRoutes(app, { guard, sealer });
  authenticationRequestRoutes(app, { sealer, authentications });
  sipDomainRoutes(app);
  eventLogRoutes(app, config.eventRetentionDays);
  smsRoutes(app, sms);
  if (sms !== null) await carrierRoutes(app, sms);
  webhookRoutes(app, { guard, sealer });
  eventTypeRoutes(app);
  statsRoutes(app);
  deliveryRoutes(app);
  recoveryRoutes(app, startRecoveries({ app, database, log, hints }));
  siteDeletionRoutes(app);
  openSampleData({ app, database, tokens, disk, log, samplePace, sealer, guard });
  await healthRoutes(app, database.pulse, room);
  metricsRoute(app, metrics);
  docsRoutes(app, () => apiDocument(app, eventWebhooks()));
  await pageRoutes(app);
  await app.ready();
  return app;
}

/**
 * Filters make every statement another, so none is prepared. Few connections: long statistics wait only for each other, and each may
 * have the memory to join a year without files.
 */
const statisticsOptions = {
  max: statisticsConnections,
  idle_timeout: 60,
  prepare: false,
  connection: { work_mem: '64MB' },
};

function openStatistics(app: App, database: Database): void {
  const sql = database.connect(statisticsOptions);
  app.addHook('onClose', async () => sql.end({ timeout: 1 }));
  statisticsRoutes(app, sql);
}

interface SampleDataContext extends Pick<AppParts, 'database' | 'log' | 'samplePace'> {
  readonly app: App;
  readonly tokens: Tokens;
  readonly disk: FileDisk;
  readonly sealer: Sealer;
  readonly guard: AddressGuard;
}

/** Simulations send requests to this server: they stop before it refuses them. */
function openSampleData({ app, database, log, samplePace = {}, tokens, disk, sealer, guard }: SampleDataContext): void {
  const simulations = new Simulations({ app, sql: database.sql, tokens, disk, log, pace: samplePace });
  app.addHook('preClose', async () => simulations.stop());
  sampleDataRoutes(app, { simulations, sealer, guard });
}

type AuthenticatorParts = Pick<AppParts, 'database' | 'clock' | 'log'> & {
  readonly app: App;
  readonly tokens: Tokens;
  readonly directory: Directory;
};

/** Also notes when each access token was last used. */
function openAuthenticator({ app, database, clock, log, tokens, directory }: AuthenticatorParts): Authenticator {
  const lastUse = new LastUse(database.sql, log);
  app.addHook('onClose', async () => lastUse.stop());
  return new Authenticator(tokens, directory, { now: () => clock.databaseNow(), onUse: (id) => lastUse.note(id) });
}

/**
 * A turn reads and writes by keys alone: with statistics that lag behind a growing table the planner would rather scan it,
 * and keep to that.
 */
const turnOptions = {
  max: 4,
  connection: {
    enable_seqscan: 'off',
    enable_hashjoin: 'off',
    enable_mergejoin: 'off',
    plan_cache_mode: 'force_generic_plan',
  },
};

/** Whatever a request has changed is committed by the time it is answered. What nobody asked for says so itself. */
function hintAfterChanges(app: App, hints: Hints): void {
  app.addHook('onResponse', ({ method, caller, routeOptions }, reply, done) => {
    const changed = method !== 'GET' && reply.statusCode < 400 && routeOptions.config.changesNothing !== true;
    if (changed && caller.kind !== 'nobody') hints.tell(caller.accountId);
    done();
  });
}

type TurnParts = Omit<AppParts, 'config' | 'session'> & {
  app: App;
  siteQueues: SiteQueues;
  hints: Hints;
  metrics: Metrics;
};

function startTurns({ app, database, feed, clock, log, siteQueues, hints, metrics }: TurnParts): Turns {
  const sql = database.connect(turnOptions);
  const turns = new Turns({
    sql,
    feed,
    clock,
    log,
    onMoved: (accountId, what) => siteQueues.forget(accountId, what),
    onWritten: (accountId) => hints.tell(accountId),
    onTurn: countTurns(metrics.registry),
  });
  watchTurns(metrics.registry, turns);
  app.addHook('onClose', async () => {
    await turns.stop();
    await sql.end({ timeout: 1 });
  });
  return turns;
}

/** The operator hears that the visitor is who it says, in the transaction that decides so. */
const tellOfAuthentication: TellEngagement = async (sql, told) => {
  await sendSystemMessage(sql, { ...told, type: 'visitor_authentication' });
};

interface AuthenticationParts extends Pick<AppParts, 'database' | 'log'> {
  readonly app: App;
  readonly hints: Hints;
  readonly tokens: Tokens;
  readonly sealer: Sealer;
  readonly guard: AddressGuard;
}

function startAuthentications({ app, database, log, hints, guard, ...parts }: AuthenticationParts): Authentications {
  const authentications = new Authentications({
    sql: database.sql,
    log,
    ...parts,
    fetcher: new GuardedFetcher({ guard, plainHttp: 'to allowed ranges', holder: 'identity providers' }),
    tell: tellOfAuthentication,
    onDecided: (accountId) => hints.tell(accountId),
  });
  app.addHook('onClose', async () => authentications.stop());
  return authentications;
}

/** One for the loop of the dispatcher, others for leases and webhooks. Everything is found by keys: see `turnOptions`. */
const dispatcherOptions = { ...turnOptions, max: 3 };

interface DispatcherSetting extends AppParts {
  readonly app: App;
  readonly hints: Hints;
  readonly metrics: Metrics;
  readonly sealer: Sealer;
  readonly outgoing: Outgoing;
}

function startDispatcher({ app, config, database, outgoing, sealer, ...parts }: DispatcherSetting): void {
  const { names, lookup, guard, attached } = outgoing;
  const sql = database.connect(dispatcherOptions);
  const apns = new ApnsSender({ settings: config.apns, sql, sealer, lookup });
  const connectors = new WebhookConnectors({ registered: guard, attached: attached.guard });
  const { feed, metrics } = parts;
  const dispatcher = new Dispatcher({
    sql,
    ...parts,
    book: new WebhookBook(sql, sealer, feed),
    courier: new Courier({ sql, sealer, connectors, names, apns }),
    watch: countDeliveries(metrics.registry),
  });
  watchDispatcher(metrics.registry, dispatcher);
  app.addHook('onClose', async () => {
    await dispatcher.stop();
    apns.close();
    await sql.end({ timeout: 1 });
  });
}

function startRecoveries({
  app,
  database,
  log,
  hints,
}: Pick<TurnParts, 'app' | 'database' | 'log' | 'hints'>): Recoveries {
  const onPutBack = (accountId: AccountId): void => hints.tell(accountId);
  const recoveries = new Recoveries({ sql: database.sql, log, onPutBack });
  app.addHook('onClose', async () => recoveries.stop());
  return recoveries;
}

/** For preparing, sending and taking SMS. None is held while another is waited for. */
const smsOptions = { max: 3, idle_timeout: 60 };

type SmsParts = Omit<AppParts, 'session' | 'clock'> & {
  app: App;
  hints: Hints;
  metrics: Metrics;
  turns: Turns;
  lookup: LookupFunction;
};

/** `null`: no carrier is set up. Closed before the turns are, whom it asks. */
function openSms({ app, config, database, feed, log, hints, metrics, turns, lookup }: SmsParts): SmsService | null {
  if (config.twilio === null) return null;
  const sql = database.connect(smsOptions);
  const sms = startSms({
    carrier: twilioCarrier(config.twilio, lookup),
    sql,
    turns,
    feed,
    log,
    registry: metrics.registry,
    tell: (accountId) => hints.tell(accountId),
  });
  app.addHook('onClose', async () => {
    await sms.stop();
    await sql.end({ timeout: 1 });
  });
  return sms;
}
