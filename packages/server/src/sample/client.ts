import { pretending } from '../identity/audit/audit.ts';
import type { InjectOptions } from 'fastify';
import { operatorTokenSeconds, type Tokens } from '../identity/tokens.ts';
import { BoundedMap } from '../platform/bounded-map.ts';
import type { Sql } from '../platform/database.ts';
import type { App } from '../platform/http.ts';
import type { OperatorId, SiteId } from '../platform/ids.ts';
import type { Actor } from './action.ts';
import type { SampleRow } from './sample-data.ts';

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

type Method = NonNullable<InjectOptions['method']>;

interface Ask {
  readonly as: Actor;
  readonly method: Method;
  readonly path: string;
  readonly body?: object;
}

interface ClientParts {
  readonly app: App;
  readonly sql: Sql;
  readonly tokens: Tokens;
  readonly sample: Pick<SampleRow, 'account_id'>;
  /** What operators act for; `null`: wherever they have a role. */
  readonly onlyOn: SiteId | null;
}

/** A token is used for half of its time. */
const tokenLastsMs = (operatorTokenSeconds * 1000) / 2;
const mostTokens = 200;

/**
 * Asks the public API in the name of sample operators and visitors, with tokens as they would obtain them. Operators are held
 * to the sample site: what a user does with them elsewhere is out of reach.
 */
export class SampleClient {
  readonly #parts: ClientParts;
  readonly #tokens = new BoundedMap<string, { readonly token: string; readonly until: number }>(mostTokens);

  constructor(parts: ClientParts) {
    this.#parts = parts;
  }

  /** `null` where nobody can act in that name any more: the operator has no key. */
  async ask({ as, method, path, body }: Ask): Promise<Answer | null> {
    const token = await this.#tokenOf(as);
    if (token === null) return null;
    const answer = await pretending.run(true, async () =>
      this.#parts.app.inject({
        method,
        url: path,
        headers: { authorization: `Bearer ${token}` },
        ...(body === undefined ? {} : { payload: body }),
      }),
    );
    return { status: answer.statusCode, body: answer.payload === '' ? {} : answer.json() };
  }

  async #tokenOf(as: Actor): Promise<string | null> {
    const held = this.#tokens.get(as.id);
    if (held !== undefined && held.until > performance.now()) return held.token;
    const { tokens, sample } = this.#parts;
    const accountId = sample.account_id;
    const token =
      as.kind === 'visitor'
        ? await tokens.signVisitor({ accountId, visitorId: as.id, trust: 'secret' })
        : await this.#sign(as.id);
    if (token !== null) this.#tokens.set(as.id, { token, until: performance.now() + tokenLastsMs });
    return token;
  }

  async #sign(operatorId: OperatorId): Promise<string | null> {
    const { sql, tokens, sample, onlyOn } = this.#parts;
    const [key] = await sql<{ id: string }[]>`
      SELECT id FROM api_keys WHERE operator_id = ${operatorId} ORDER BY created_at LIMIT 1`;
    if (key === undefined) return null;
    const sites = onlyOn === null ? null : [onlyOn];
    return tokens.signOperator({ accountId: sample.account_id, operatorId, by: { key: key.id }, sites });
  }
}
