import { connectPublished } from './published-driver.ts';
import { insertEntry } from '../packages/server/src/identity/audit/store.ts';
import type { Sql } from '../packages/server/src/platform/database/database.ts';
import { lockSite } from '../packages/server/src/identity/sites/store.ts';
import { insertTeam } from '../packages/server/src/identity/teams/store.ts';
import {
  newId,
  type AccountId,
  type OperatorId,
  type SiteId,
  type TeamId,
} from '../packages/server/src/platform/ids.ts';
import type { Load } from './measuring/load.ts';

/**
 * The peer for the authenticated create: the transaction of `POST /teams` alone, which locks the site and inserts a team and its audit entry, with the
 * driver as published.
 * The first IPC message names the database and is answered with `ready`; each later message starts a load and is answered with
 * its teams per second.
 */
export interface BareDatabase {
  readonly url: string;
  readonly poolSize: number;
  readonly siteId: string;
  /** The API key of the operator who is recorded as the creator. */
  readonly keyId: string;
  readonly name: string;
}

/** How many connections create teams, and either for how long or how many teams in total. */
export interface CreateLoad extends Partial<Load> {
  readonly connections: number;
  readonly amount?: number;
}

process.once('message', (where) => void open(where as BareDatabase));
process.once('disconnect', () => process.exit());

async function open({ url, poolSize, siteId, keyId, name }: BareDatabase): Promise<void> {
  const sql = connectPublished(url, poolSize);
  const [owner] = await sql<{ account_id: AccountId; operator_id: OperatorId }[]>`
    SELECT o.account_id, o.id AS operator_id FROM api_keys k JOIN operators o ON o.id = k.operator_id WHERE k.id = ${keyId}`;
  if (owner === undefined) throw new Error(`no API key has the id ${keyId}`);
  const { account_id, operator_id: operatorId } = owner;
  const site_id = siteId as SiteId;
  const create = async (): Promise<void> =>
    sql.begin(async (driverSql) => {
      // The stores use nothing of the tag that the published driver lacks.
      const own = driverSql as unknown as Sql;
      await lockSite(own, site_id);
      const team = await insertTeam(own, { id: newId<TeamId>(), account_id, site_id, name, description: null });
      await insertEntry(own, {
        accountId: account_id,
        actor: { type: 'operator', id: operatorId },
        via: keyId,
        action: 'team.create',
        target: { type: 'team', id: team.id, name: team.name },
        concerned: { any: [site_id] },
        changes: [
          { field: 'name', after: team.name },
          { field: 'description', after: null },
        ],
        requestId: team.id,
      });
    });
  await create();
  process.on('message', (creates) => void createMany(creates as CreateLoad, create));
  process.send?.('ready');
}

async function createMany(
  { connections, seconds = Infinity, amount = Infinity }: CreateLoad,
  create: () => Promise<void>,
): Promise<void> {
  const began = performance.now();
  let created = 0;
  const lane = async (): Promise<void> => {
    while (created < amount && performance.now() - began < seconds * 1000) {
      created += 1;
      await create();
    }
  };
  await Promise.all(Array.from({ length: connections }, lane));
  process.send?.((created / (performance.now() - began)) * 1000);
}
