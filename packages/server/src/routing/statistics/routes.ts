import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { operatorOf } from '../../identity/access.ts';
import { parseBrackets } from '../../platform/bracket-query.ts';
import { databaseErrorCode, type Sql } from '../../platform/database.ts';
import { invalid } from '../../platform/errors.ts';
import { rendered, type App } from '../../platform/http.ts';
import type { SiteId } from '../../platform/ids.ts';
import { pools } from '../../platform/pools.ts';
import { body, nullable, timestamp } from '../../platform/schema.ts';
import { csvOf, wantsCsv, type Cell } from './csv.ts';
import { dimensions } from './filter.ts';
import { liveWaitRoute } from './live-wait.ts';
import {
  readStatisticsQuery,
  statisticsFields,
  waitFields,
  type StatisticsInput,
  type StatisticsQuery,
} from './query.ts';
import { StatisticsSlots } from './slots.ts';
import { engagementDurations, mostRows, onlineDurations, queueWaits, timeZoneOfSite } from './store.ts';

/** A request is answered within 22 s, and a statement may take 15 s of them. */
const slotLimits = { perAccount: 2, underWay: pools.statistics.max, waiting: 8, longestWaitMs: 5_000 };

const askForLess = 'Ask for a shorter range, coarser steps or fewer dimensions';

const seconds = (description: string) => Type.Number({ description });

const group = {
  timestamp: Type.Unsafe<Date>({ ...timestamp, description: 'When the step begins' }),
  seconds: seconds('Total of the group'),
  ...Object.fromEntries(dimensions.map((name) => [name, Type.Optional(nullable(Type.String()))])),
};

const durations = {
  count: Type.Integer(),
  average_duration_in_seconds: seconds('To three places'),
  total_duration_in_seconds: seconds('The same as seconds'),
};

const waits = {
  ...durations,
  maximum_duration_in_seconds: seconds('The longest'),
  short_duration_count: Type.Integer({ description: 'Shorter than short_duration_sec' }),
  within_service_level_count: Type.Integer({
    description: 'Engaged from the queue after service_level_sec or less',
  }),
};

const common = `Groups without anything are left out. Seconds are whole; the sum over steps is always the whole range. Without a
filter by site it is about the sites on which the caller is a manager; each site that the filter names needs that role. \`POST\`
takes the parameters in the query string or in a JSON body. If a parameter is in both, the body's value is used. \`Accept: text/csv\`
gives the rows as CSV, where text that a spreadsheet would take for a formula begins with an apostrophe. A dimension that a statistic
does not have is null. An account may have ${slotLimits.perAccount} statistics under way at a time (else 429); one that takes too long
is answered with 422.`;

interface Statistic {
  readonly url: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters: typeof statisticsFields;
  readonly figures: Type.TProperties;
  readonly read: (sql: Sql, query: StatisticsQuery) => Promise<readonly object[]>;
}

const statistics: readonly Statistic[] = [
  {
    url: '/engagements/stats/duration',
    summary: 'How long engagements lasted',
    description: `Sub-engagements that have ended, one for each operator of an engagement, by the step in which they began.
\`type\` is \`reactive\` where the visitor asked and \`proactive\` where an operator did; \`end_reason\` is \`transferred\` where another
operator took over; \`queue_id\` is the queue that the engagement came from; \`team_id\` are the teams that the operator had on the
site when it began. \`media\` is the medium it ended with.`,
    parameters: statisticsFields,
    figures: durations,
    read: engagementDurations,
  },
  {
    url: '/engagements/stats/post_engagement_duration',
    summary: 'How long operators took to wrap up after engagements',
    description: 'There is no wrap-up yet, so there are no rows.',
    parameters: statisticsFields,
    figures: durations,
    read: async () => [],
  },
  {
    url: '/engagements/stats/queue/wait_duration',
    summary: 'How long visitors were in queues, by outcome',
    description: `Visits of queues that are over, by the step in which the visitor entered the queue. A visit lasts from entering
that queue to leaving it. \`outcome\` is \`engaged\`, \`transferred\` (the same for a visitor who was engaged already and was transferred
to the queue), \`engaged_elsewhere\`, \`abandoned\`, \`fallback\`, \`unstaffed\` or \`expired\`. \`destination_queue_id\` is the fallback
queue, or the queue from which the visitor was engaged instead.`,
    parameters: waitFields,
    figures: waits,
    read: queueWaits,
  },
  {
    url: '/operators/stats/online_duration',
    summary: "Operators' time by what they were doing",
    description: `\`type\` is one state at a time: \`engaged\` with at least one engagement; else \`video\`, \`audio\` (or phone) or
\`chat\`, the highest medium that the operator is available for; else the reason given for being away, or \`away\`. Time offline is not
counted: before an operator first said anything, after their presence expired, while they are disabled. What spans two steps is
divided between them. An operator of several sites or teams counts in each, and once where neither is asked for. Time is kept since
the version that introduced it, for \`USHER_PRESENCE_RETENTION_DAYS\` days. A reason that reads like a state, such as \`chat\`, is
reported as \`away\`.`,
    parameters: statisticsFields,
    figures: {},
    read: onlineDurations,
  },
];

const access = { operator: 'manager', site: 'anywhere' } as const;

/**
 * `sql` has connections of its own, few of them: however long statistics take, other requests do not wait for them. What takes no
 * time, the live figure and the time zone of a site, is read by the request's own connection.
 */
export function statisticsRoutes(app: App, sql: Sql): void {
  const slots = new StatisticsSlots(slotLimits);
  for (const statistic of statistics)
    statisticRoutes(app, statistic, async (query) =>
      slots.run(query.accountId, async () => statistic.read(sql, query).catch(refuseSlow)),
    );
  liveWaitRoute(app);
}

/** PostgreSQL ends a statement that exceeds `statement_timeout`: trying the same again would not help. */
function refuseSlow(error: unknown): never {
  if (databaseErrorCode(error) !== '57014') throw error;
  throw invalid([{ attribute: '', detail: `takes too long to count. ${askForLess}` }]);
}

type ReadRows = (query: StatisticsQuery) => Promise<readonly object[]>;

function statisticRoutes(app: App, statistic: Statistic, readRows: ReadRows): void {
  const { url, summary, parameters, figures } = statistic;
  const schema = {
    tags: ['Statistics'],
    summary,
    description: `${statistic.description}\n\n${common}`,
    querystring: Type.Object(parameters),
    response: { 200: Type.Unsafe<string>(Type.Array(Type.Object({ ...group, ...figures }))) },
  };
  const answer = async (request: FastifyRequest, reply: FastifyReply, input: StatisticsInput) => {
    const zoneOfSite = async (site: SiteId) => timeZoneOfSite(request.sql, site);
    const query = await readStatisticsQuery(input, operatorOf(request), zoneOfSite);
    const rows = await readRows(query);
    if (rows.length > mostRows)
      throw invalid([{ attribute: '/granularity', detail: `makes more than ${mostRows} rows. ${askForLess}` }]);
    reply.header('vary', 'Accept');
    if (!wantsCsv(request.headers.accept)) {
      // As text: made by the schema, a row would have its dimensions behind the figures.
      reply.type(rendered);
      return JSON.stringify(rows);
    }
    reply.type('text/csv; charset=utf-8');
    const columns = ['timestamp', 'seconds', ...query.dimensions, ...Object.keys(figures)];
    return csvOf(columns, rows as readonly Record<string, Cell>[]);
  };
  const optional = Type.Partial(Type.Object(parameters));
  app.get(url, { config: { access }, onRequest: readBrackets, schema }, async (request, reply) =>
    answer(request, reply, request.query),
  );
  app.post(
    url,
    {
      config: { access, changesNothing: true, audit: 'dry run' },
      onRequest: readBrackets,
      // What is required may be in either.
      schema: { ...schema, querystring: optional, body: body(optional.properties) },
    },
    async (request, reply) => answer(request, reply, { ...request.query, ...request.body }),
  );
}

/** Statistics take nested parameters; the query string is read anew for them. */
function readBrackets(request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void {
  try {
    const at = request.url.indexOf('?');
    request.query = at < 0 ? {} : parseBrackets(request.url.slice(at + 1));
    done();
  } catch (error) {
    done(error as Error);
  }
}
