import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { operatorOf } from '../../identity/access.ts';
import { parseBrackets } from '../../platform/http/bracket-query.ts';
import { isTimedOut, type Sql } from '../../platform/database/database.ts';
import { invalid } from '../../platform/errors.ts';
import { rendered, type App } from '../../platform/http/http.ts';
import type { SiteId } from '../../platform/ids.ts';
import { pools } from '../../platform/database/pools.ts';
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
import { engagementDurations, maxRows, onlineDurations, queueWaits, timeZoneOfSite } from './store.ts';

/** A request is answered within 22 s, of which a statement may take 15 s. */
const slotLimits = { perAccount: 2, running: pools.statistics.max, waiting: 8, maxWaitMs: 5_000 };

const askForLess = 'Use a shorter range, longer steps or fewer dimensions';

const seconds = (description: string) => Type.Number({ description });

const group = {
  timestamp: Type.Unsafe<Date>({ ...timestamp, description: 'The start of the step' }),
  seconds: seconds('The total of the group'),
  ...Object.fromEntries(dimensions.map((name) => [name, Type.Optional(nullable(Type.String()))])),
};

const durations = {
  count: Type.Integer(),
  average_duration_in_seconds: seconds('Rounded to three decimal places'),
  total_duration_in_seconds: seconds('Equals `seconds`'),
};

const waits = {
  ...durations,
  maximum_duration_in_seconds: seconds('The longest duration'),
  short_duration_count: Type.Integer({ description: 'Shorter than short_duration_sec' }),
  within_service_level_count: Type.Integer({
    description: 'Engaged from the queue within service_level_sec',
  }),
};

const common = `Empty groups are left out. Seconds are whole numbers; the steps add up to the whole range. Without a filter by site, the
statistic covers the sites on which the caller is a manager; the caller must be a manager on each site that the filter names. \`POST\`
takes the parameters in the query string or in a JSON body; if a parameter is in both, the body counts. \`Accept: text/csv\` returns
the rows as CSV, in which text that a spreadsheet would read as a formula begins with an apostrophe. A dimension that a statistic does
not have is null. An account may run ${slotLimits.perAccount} statistics at a time (429 otherwise); a statistic that takes too long is
refused with 422.`;

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
    description: `Ended sub-engagements, one for each operator of an engagement, by the step in which they started. \`type\` is
\`reactive\` if the visitor made the request and \`proactive\` if an operator did. \`end_reason\` is \`transferred\` if the engagement was
transferred to another operator. \`queue_id\` is the queue that made the match. \`team_id\` is each team that the operator had on the
site at the start. \`media\` is the medium at the end.`,
    parameters: statisticsFields,
    figures: durations,
    read: engagementDurations,
  },
  {
    url: '/engagements/stats/post_engagement_duration',
    summary: 'How long operators took to wrap up after engagements',
    description: 'Usher has no wrap-up yet, so there are never any rows.',
    parameters: statisticsFields,
    figures: durations,
    read: async () => [],
  },
  {
    url: '/engagements/stats/queue/wait_duration',
    summary: 'How long visitors were in queues, by outcome',
    description: `Completed visits of queues, by the step in which the visitor entered the queue. A visit lasts from entering a queue to
leaving it. \`outcome\` is \`engaged\`, \`transferred\` (engaged after a transfer to the queue), \`engaged_elsewhere\`, \`abandoned\`,
\`fallback\`, \`unstaffed\` or \`expired\`. \`destination_queue_id\` is the fallback queue, or the queue that made the match instead.`,
    parameters: waitFields,
    figures: waits,
    read: queueWaits,
  },
  {
    url: '/operators/stats/online_duration',
    summary: "Operators' online time by state",
    description: `\`type\` is the state: \`engaged\` with at least one engagement; otherwise \`video\`, \`audio\` (or phone) or \`chat\`, the
highest medium that the operator is available for; otherwise the away reason, or \`away\`. Time offline is not counted: before an
operator first set their presence, after it expired, and while they are disabled. Time that spans two steps is divided between them.
An operator with several sites or teams counts in each of them, and once if the query uses neither. Time is recorded since the version
that introduced this statistic, and kept for \`USHER_PRESENCE_RETENTION_DAYS\` days. An away reason that equals the name of a state,
such as \`chat\`, is reported as \`away\`.`,
    parameters: statisticsFields,
    figures: {},
    read: onlineDurations,
  },
];

const access = { operator: 'manager', site: 'anywhere' } as const;

/**
 * `sql` is a small separate pool, so that slow statistics do not delay other requests. The live wait and the time zone of a site are
 * fast and use the request's own connection.
 */
export function statisticsRoutes(app: App, sql: Sql): void {
  const slots = new StatisticsSlots(slotLimits);
  for (const statistic of statistics)
    statisticRoutes(app, statistic, async (query) =>
      slots.run(query.accountId, async () => statistic.read(sql, query).catch(refuseSlow)),
    );
  liveWaitRoute(app);
}

/** PostgreSQL cancels a statement that exceeds `statement_timeout`. Retrying it would not help, so the answer is 422. */
function refuseSlow(error: unknown): never {
  if (!isTimedOut(error)) throw error;
  throw invalid([{ attribute: '', detail: `takes too long. ${askForLess}` }]);
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
    if (rows.length > maxRows)
      throw invalid([{ attribute: '/granularity', detail: `results in more than ${maxRows} rows. ${askForLess}` }]);
    reply.header('vary', 'Accept');
    if (!wantsCsv(request.headers.accept)) {
      // Sent as text, because serialising by the schema would put the dimensions after the figures.
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
      config: { access, readOnly: true },
      onRequest: readBrackets,
      // A required parameter may be in the query string or in the body.
      schema: { ...schema, querystring: optional, body: body(optional.properties) },
    },
    async (request, reply) => answer(request, reply, { ...request.query, ...request.body }),
  );
}

/** Parses the query string again, because statistics accept nested parameters. */
function readBrackets(request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void {
  try {
    const at = request.url.indexOf('?');
    request.query = at < 0 ? {} : parseBrackets(request.url.slice(at + 1));
    done();
  } catch (error) {
    done(error as Error);
  }
}
