import type { Sql } from '../../platform/database/database.ts';
import { newId, type AccountId, type Id } from '../../platform/ids.ts';
import { channelOf } from '../../channels/channels.ts';

export type DestinationId = Id<'destination'>;

/** The account's destination for the URL; created if there is none. */
export async function destinationFor(sql: Sql, accountId: AccountId, url: string): Promise<DestinationId> {
  const origin = channelOf(url).originOf(url);
  // Retention drops unused destinations, so `wanted_at` is renewed, at most daily. A destination that is just being dropped is not found.
  const find = async () => sql<{ id: DestinationId }[]>`
    WITH known AS (SELECT id, wanted_at FROM destinations WHERE account_id = ${accountId} AND origin = ${origin}),
         touched AS (
           UPDATE destinations d
              SET wanted_at = now()
             FROM known
            WHERE d.id = known.id AND known.wanted_at < now() - interval '1 day'
           RETURNING d.id)
    SELECT id FROM known WHERE wanted_at >= now() - interval '1 day' OR id IN (SELECT id FROM touched)`;
  const [found] = await find();
  if (found !== undefined) return found.id;
  await sql`
    INSERT INTO destinations (id, account_id, origin)
    VALUES (${newId()}, ${accountId}, ${origin})
    ON CONFLICT (account_id, origin) DO NOTHING`;
  const [created] = await find();
  if (created === undefined) throw new Error('the destination was neither found nor created');
  return created.id;
}
