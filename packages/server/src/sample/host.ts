import type { Actor, Answer, Ask, Host } from '@usher/sample/host';
import { operatorTokenSeconds, type Tokens } from '../identity/tokens.ts';
import { BoundedMap } from '../platform/bounded-map.ts';
import type { Sql } from '../platform/database.ts';
import type { App } from '../platform/http.ts';
import type { OperatorId, VisitorId } from '../platform/ids.ts';
import { readUnderWay, readWorld } from './read-world.ts';
import { visitorMark, type SampleRow } from './sample-data.ts';

export interface HostParts {
  readonly app: App;
  readonly sql: Sql;
  readonly tokens: Tokens;
}

/** Where operators may act: on the sample site, or wherever they have a role. */
type Reach = 'sample site' | 'everywhere';

/** A token is used for half of its time. */
const tokenLastsMs = (operatorTokenSeconds * 1000) / 2;
const mostTokens = 200;

/**
 * What the people of a sample need of this server. Requests go to the public API with tokens as these people would obtain them.
 * Operators are held to the sample site: what a user does with them elsewhere is out of their reach.
 */
export function sampleHost(parts: HostParts, sample: SampleRow, reach: Reach = 'sample site'): Host {
  const { app, sql } = parts;
  const tokens = new BoundedMap<string, { readonly token: string; readonly until: number }>(mostTokens);

  const tokenOf = async (as: Actor): Promise<string | null> => {
    const held = tokens.get(as.id);
    if (held !== undefined && held.until > performance.now()) return held.token;
    const token = await sign(parts, sample, as, reach);
    if (token !== null) tokens.set(as.id, { token, until: performance.now() + tokenLastsMs });
    return token;
  };

  return {
    siteId: sample.site_id,
    operatorIds: sample.operator_ids,
    seed: sample.seed,
    visitorMark,
    readWorld: async () => readWorld(sql, sample),
    readUnderWay: async (extent) => readUnderWay(sql, sample, extent),
    async ask({ as, method, path, body }: Ask): Promise<Answer | null> {
      const token = await tokenOf(as);
      if (token === null) return null;
      const headers = { authorization: `Bearer ${token}` };
      const answer = await app.inject({ method, url: path, headers, payload: body });
      return { status: answer.statusCode, body: answer.payload === '' ? {} : answer.json() };
    },
  };
}

/** `null`: the operator has no key any more. */
async function sign({ sql, tokens }: HostParts, sample: SampleRow, as: Actor, reach: Reach): Promise<string | null> {
  const { account_id: accountId, site_id: siteId } = sample;
  if (as.kind === 'visitor') return tokens.signVisitor({ accountId, visitorId: as.id as VisitorId, trust: 'secret' });
  const [key] = await sql<{ id: string }[]>`
    SELECT id FROM api_keys WHERE operator_id = ${as.id} ORDER BY created_at LIMIT 1`;
  if (key === undefined) return null;
  const sites = reach === 'everywhere' ? null : [siteId];
  return tokens.signOperator({
    accountId,
    operatorId: as.id as OperatorId,
    by: { key: key.id },
    sites,
    isMadeUp: true,
  });
}
