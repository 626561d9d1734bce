import type { Actor, Answer, ApiRequest, Host } from '@usher/sample/host';
import { fixedHeader } from '@usher/sdk/authorization';
import { UsherError } from '@usher/sdk/errors';
import { jsonRequest, readJson } from '@usher/sdk/request';
import { Transport } from '@usher/sdk/transport';
import type { InjectOptions } from 'fastify';
import { operatorTokenSeconds, type Tokens } from '../identity/tokens.ts';
import { BoundedMap } from '../platform/bounded-map.ts';
import type { Sql } from '../platform/database/database.ts';
import type { App } from '../platform/http/http.ts';
import type { OperatorId, VisitorId } from '../platform/ids.ts';
import { readActive, readWorld } from './read-world.ts';
import { visitorMark, type SampleRow } from './sample-data.ts';

export interface HostDependencies {
  readonly app: App;
  readonly sql: Sql;
  readonly tokens: Tokens;
}

/** Where sample operators may act: on the sample site, or on every site where they have a role. */
type Reach = 'sample site' | 'everywhere';

/** A token is reused for half of its lifetime. */
const tokenReuseMs = (operatorTokenSeconds * 1000) / 2;
const maxTokens = 200;

/**
 * Gives simulated people access to this server. Requests go to the public API, with tokens like those of real people. The tokens of
 * sample operators are limited to the sample site, so a simulation never acts on a site to which a user assigned them.
 */
export function sampleHost(dependencies: HostDependencies, sample: SampleRow, reach: Reach = 'sample site'): Host {
  const { app, sql } = dependencies;
  const fetch = fetchFrom(app);
  const tokens = new BoundedMap<string, { readonly token: string; readonly until: number }>(maxTokens);

  const tokenOf = async (as: Actor): Promise<string | null> => {
    const cached = tokens.get(as.id);
    if (cached !== undefined && cached.until > performance.now()) return cached.token;
    const token = await sign(dependencies, sample, as, reach);
    if (token !== null) tokens.set(as.id, { token, until: performance.now() + tokenReuseMs });
    return token;
  };

  return {
    siteId: sample.site_id,
    operatorIds: sample.operator_ids,
    seed: sample.seed,
    visitorMark,
    readWorld: async () => readWorld(sql, sample),
    readActive: async (scope) => readActive(sql, sample, scope),
    async send({ as, method, path, body }: ApiRequest): Promise<Answer | null> {
      const token = await tokenOf(as);
      if (token === null) return null;
      const transport = new Transport({ url: '', fetch, maxRetries: 0 }, fixedHeader(`Bearer ${token}`));
      return transport.send(jsonRequest({ method, path, body }), readAnswer).catch((error: unknown) => {
        if (error instanceof UsherError) return { status: error.status, body: {} };
        throw error;
      });
    },
  };
}

async function readAnswer(response: Response): Promise<Answer> {
  return { status: response.status, body: ((await readJson(response)) ?? {}) as Answer['body'] };
}

/** A `fetch` for the SDK that passes requests to this process, without a connection. */
function fetchFrom(app: App): typeof fetch {
  return async (url, { method = 'GET', headers, body } = {}) => {
    const request = { method, url, headers, payload: body } as InjectOptions;
    const { statusCode: status, headers: answered, rawPayload } = await app.inject(request);
    return new Response(rawPayload.length === 0 ? null : new Uint8Array(rawPayload), {
      status,
      headers: answered as Record<string, string>,
    });
  };
}

/** `null`: the operator's key was deleted. */
async function sign(
  { sql, tokens }: HostDependencies,
  sample: SampleRow,
  as: Actor,
  reach: Reach,
): Promise<string | null> {
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
