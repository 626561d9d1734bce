import type { Api } from '../commands/api.ts';
import {
  kinds,
  partKinds,
  type Kind,
  type Operator,
  type Ranking,
  type ServerConfig,
  type ServerThing,
} from './kinds.ts';

type Row = Readonly<Record<string, unknown>>;

/** Requests at a time: enough to hide the latency, and little for the server. */
const parallel = 4;

/** Reads everything through the API. Each thing is read on its own, because lists have no entity tags. */
export async function readServer(api: Api): Promise<ServerConfig> {
  const { site_roles: roles } = (await api.get('/operator_authentication/sessions/current')) as {
    readonly site_roles: Readonly<Record<string, string>>;
  };
  const sites = await readList(api, kinds.site.path, kinds.site.key);
  const own = sites.filter(({ id }) => roles[String(id)] === 'super_manager');
  const ids = own.map(({ id }) => String(id));
  const things: ServerThing[] = await readThings(api, 'site', ids);
  for (const kind of ids.length === 0 ? [] : partKinds) {
    const rows = await readList(api, kinds[kind].path, kinds[kind].key, ids);
    things.push(
      ...(await readThings(
        api,
        kind,
        rows.map(({ id }) => String(id)),
      )),
    );
  }
  if (ids.length > 0) {
    const rows = await readList(api, kinds.webhook.path, kinds.webhook.key);
    things.push(
      ...(await readThings(
        api,
        'webhook',
        rows.map(({ id }) => String(id)),
      )),
    );
  }
  const operators = ids.length === 0 ? [] : await readList(api, '/operators', 'operators', ids);
  return {
    things,
    operators: operators.map(({ id, name }) => ({ id, name }) as Operator),
    otherSites: sites.filter((site) => !own.includes(site)).map(({ name }) => String(name)),
  };
}

async function readThings(api: Api, kind: Kind, ids: readonly string[]): Promise<ServerThing[]> {
  const things: ServerThing[] = [];
  for (let start = 0; start < ids.length; start += parallel)
    things.push(...(await Promise.all(ids.slice(start, start + parallel).map(async (id) => readThing(api, kind, id)))));
  return things;
}

async function readThing(api: Api, kind: Kind, id: string): Promise<ServerThing> {
  const path = `${kinds[kind].path}/${id}`;
  const rankings = kind === 'queue' ? await readRankings(api, id) : null;
  const { body, etag } = await api.getTagged(path);
  return thingOf(kind, body as Row, { etag, rankings });
}

export async function readRankings(api: Api, queueId: string): Promise<readonly Ranking[]> {
  const { operators } = (await api.get(`${kinds.queue.path}/${queueId}/rankings`)) as {
    readonly operators: readonly Ranking[];
  };
  return operators;
}

/** A thing as the API returns it. */
export function thingOf(kind: Kind, row: Row, { etag, rankings }: Pick<ServerThing, 'etag' | 'rankings'>): ServerThing {
  const { fields, nameField } = kinds[kind];
  const { id, site_id: siteId, status, visitors_count: waiting } = row;
  return {
    kind,
    id: String(id),
    siteId: typeof siteId === 'string' ? siteId : null,
    name: String(row[nameField]),
    // An older server may not have all fields.
    fields: Object.fromEntries(fields.filter((name) => name in row).map((name) => [name, row[name]])),
    etag,
    rankings,
    status: typeof status === 'string' ? status : null,
    waiting: typeof waiting === 'number' ? waiting : 0,
  };
}

/** Every page of a list. */
async function readList(api: Api, path: string, key: string, siteIds: readonly string[] = []): Promise<Row[]> {
  const query = new URLSearchParams(siteIds.map((id) => ['site_ids[]', id]));
  query.set('per_page', '1000');
  const rows: Row[] = [];
  for (let page = 1; ; page += 1) {
    query.set('page', String(page));
    const answer = (await api.get(`${path}?${query.toString()}`)) as Row;
    rows.push(...(answer[key] as readonly Row[]));
    if (answer['next_page'] === null || answer['next_page'] === undefined) return rows;
  }
}
