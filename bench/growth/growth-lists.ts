import { hash } from 'node:crypto';
import { withDatabase } from '../measuring/databases.ts';
import { fillHistory, historyDays, type HistorySize } from './growth-fill.ts';
import { median, type Entry } from '../measuring/harness.ts';
import { RawClient } from '../measuring/raw-client.ts';
import { call, firstSite, signIn, type Session } from '../measuring/usher.ts';

const sizes: Readonly<Record<'full' | 'short', HistorySize & { readonly times: number }>> = {
  full: { engagements: 100_000, messagesEach: 10, events: 1_000_000, operators: 500, times: 5 },
  short: { engagements: 200, messagesEach: 2, events: 200, operators: 10, times: 1 },
};

const limits = { page: 20, list: 100 };
const dayMs = 86_400_000;

interface Callers {
  readonly url: string;
  readonly siteId: string;
  readonly manager: string;
  /** An operator without other rights. */
  readonly operator: { readonly id: string; readonly token: string };
}

/** A request, who sends it, and how long it may take. */
interface ListRequest {
  readonly name: string;
  readonly path: string;
  readonly as: 'manager' | 'operator';
  readonly atMost: number;
}

/** Every list and report of an account with a long history. */
export const growthLists: Entry = {
  name: 'growth-lists',
  async prepare(lab) {
    const size = sizes[lab.size];
    const usher = await lab.startUsher();
    const callers = await meet(usher.url, await signIn(usher));
    await withDatabase(usher.databaseUrl, async (sql) => {
      const [account] = await sql<{ id: string }[]>`SELECT account_id AS id FROM sites WHERE id = ${callers.siteId}`;
      if (account === undefined) throw new Error('the first start made no account');
      await fillHistory(sql, { accountId: account.id, siteId: callers.siteId, selfId: callers.operator.id }, size);
    });
    const requests = [
      ...engagementLists(callers.siteId),
      ...(await deepPage(callers)),
      ...otherLists(callers.siteId),
      ...reports(callers.siteId),
    ];
    return requests.map(({ name, path, as, atMost }) => ({
      name: `${name}, ${size.engagements.toLocaleString('en')} engagements`,
      unit: 'ms',
      measure: async () => medianTime(callers, { path, as }, size.times),
      atMost,
    }));
  },
};

async function meet(url: string, session: Session): Promise<Callers> {
  const siteId = await firstSite(session);
  const post = async (path: string, status: number, body: unknown = {}): Promise<Record<string, string>> =>
    JSON.parse((await call(session, { method: 'POST', path, status, body: JSON.stringify(body) })).body) as Record<
      string,
      string
    >;
  const { id = '' } = await post('/operators', 201, {
    name: 'Self',
    email: 'self@bench',
    assignments: [{ site_id: siteId }],
  });
  const key = await post(`/operators/${id}/api_keys`, 201);
  const { token = '' } = await post('/operator_authentication/tokens', 200, {
    api_key_id: key['id'],
    api_key_secret: key['secret'],
  });
  return {
    url,
    siteId,
    manager: session.headers['authorization']?.replace('Bearer ', '') ?? '',
    operator: { id, token },
  };
}

/** Ids are made of names: see growth-fill.ts. */
const idOf = (name: string): string => {
  const hex = hash('md5', name);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
};

function engagementLists(siteId: string): ListRequest[] {
  const list = (name: string, more: string, as: ListRequest['as'] = 'manager'): ListRequest => ({
    name: `GET /engagements ${name}`,
    path: `/engagements?site_ids[]=${siteId}${more}`,
    as,
    atMost: limits.page,
  });
  const longAgo = new Date(Date.now() - (historyDays / 2) * dayMs).toISOString();
  return [
    list('of a site', ''),
    list('of a site, ended', '&state=ended'),
    list('of a site, active', '&state=active'),
    list('of a site, of a time', `&end_date=${longAgo}`),
    list('of an operator', `&operator_ids[]=${idOf('operator 7')}`),
    list('of a visitor', `&visitor_ids[]=${idOf('visitor 7')}`),
    list('of oneself', '', 'operator'),
    list('of oneself, of a time', `&end_date=${longAgo}`, 'operator'),
  ];
}

/** The page after one in the middle. */
async function deepPage({ url, siteId, manager }: Callers): Promise<ListRequest[]> {
  const longAgo = new Date(Date.now() - (historyDays / 2) * dayMs).toISOString();
  const client = new RawClient(url);
  const path = `/engagements?site_ids[]=${siteId}&end_date=${longAgo}`;
  const { next_page: next } = await client.json<{ next_page: string | null }>(200, 'GET', path, manager);
  client.close();
  return next === null
    ? []
    : [{ name: 'GET /engagements after a cursor', path: next.slice(url.length), as: 'manager', atMost: limits.page }];
}

function otherLists(siteId: string): ListRequest[] {
  const sites = `site_ids[]=${siteId}`;
  const list = (name: string, path: string, as: ListRequest['as'] = 'manager'): ListRequest => ({
    name,
    path,
    as,
    atMost: limits.list,
  });
  return [
    list('GET /events', '/events'),
    list('GET /events of an engagement', `/events?engagement_id=${idOf('engagement 7')}`),
    list('GET /events of another type', '/events?event_type[]=engagement.end'),
    list('GET /audit_log', '/audit_log'),
    list('GET /audit_log of a queue', `/audit_log?target_id=${idOf('queue 3')}`),
    list('GET /engagement_requests of a site', `/engagement_requests?${sites}`),
    list('GET /engagement_requests, pending', '/engagement_requests?state=pending', 'operator'),
    list('GET /engagement_requests of a site, pending', `/engagement_requests?state=pending&${sites}`),
    list('GET /transfer_requests', `/transfer_requests?${sites}`),
    list('GET /queue_tickets', `/queue_tickets?${sites}`),
    list('GET /queues/{id}/tickets', `/queues/${idOf('queue 3')}/tickets`),
    list('GET /operators', `/operators?${sites}&include_offline=true`),
    list('GET /colleagues', `/colleagues?${sites}`, 'operator'),
    list('GET /engagements/{id}/chat_transcript', `/engagements/${idOf('engagement 7')}/chat_transcript`),
    list('GET /queues', `/queues?${sites}`),
  ];
}

function reports(siteId: string): ListRequest[] {
  const now = Date.now();
  const ago = (days: number): string => new Date(now - days * dayMs).toISOString();
  const range = (days: number): string => `from=${ago(days)}&to=${ago(0)}`;
  const dates = (days: number): string => `start_date=${ago(days)}&end_date=${ago(0)}`;
  const report = (name: string, path: string): ListRequest => ({ name, path, as: 'manager', atMost: limits.list });
  return [
    report('GET /queues/{id}/stats of the whole history', `/queues/${idOf('queue 3')}/stats?${range(historyDays)}`),
    report('GET /queues/stats of a day', `/queues/stats?site_ids[]=${siteId}&${range(1)}`),
    report(
      'GET /queues/stats of the whole history',
      `/queues/stats?site_ids[]=${siteId}&${range(historyDays)}&interval_sec=86400`,
    ),
    report(
      'GET /operators/presence_intervals of a day',
      `/operators/presence_intervals?site_ids[]=${siteId}&${range(1)}`,
    ),
    report(
      'GET /operators/presence_intervals of 31 days',
      `/operators/presence_intervals?site_ids[]=${siteId}&${range(31)}`,
    ),
    ...[
      '/engagements/stats/duration',
      '/engagements/stats/queue/wait_duration',
      '/operators/stats/online_duration',
    ].flatMap((path) => [
      report(`GET ${path} of a month by day`, `${path}?${dates(30)}&granularity=day`),
      report(`GET ${path} of the whole history`, `${path}?${dates(historyDays)}`),
      report(`GET ${path} of the whole history by day`, `${path}?${dates(historyDays)}&granularity=day`),
      ...['operator_id', 'site_id', 'team_id'].map((dimension) =>
        report(
          `GET ${path} of the whole history by ${dimension.replace('_id', '')}`,
          `${path}?${dates(historyDays)}&dimensions[]=${dimension}`,
        ),
      ),
    ]),
  ];
}

async function medianTime(
  { url, manager, operator }: Callers,
  { path, as }: Pick<ListRequest, 'path' | 'as'>,
  times: number,
): Promise<number> {
  const session = { url, headers: { authorization: `Bearer ${as === 'manager' ? manager : operator.token}` } };
  const took: number[] = [];
  for (let n = 0; n < times; n += 1) {
    const began = performance.now();
    await call(session, { method: 'GET', path, status: 200 });
    took.push(performance.now() - began);
  }
  return median(took);
}
