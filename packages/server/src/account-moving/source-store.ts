import { publicPart } from '../identity/signing-keys.ts';
import type { ExportedAccount } from '../backup/format.ts';
import type { JsonValue, Sql } from '../platform/database/database.ts';

type Source = Pick<ExportedAccount, 'shiftMs' | 'outageMs' | 'takenAt' | 'signingKeys' | 'sealingKeys'>;

/** What the account's rows need of the installation: its clock, the keys that verify its callers' tokens, and those that open its secrets. */
export async function describeInstallation(sql: Sql): Promise<Source> {
  const [clock] = await sql<Pick<Source, 'shiftMs' | 'outageMs' | 'takenAt'>[]>`
    SELECT shift_ms::float8 AS "shiftMs", outage_ms::float8 AS "outageMs",
           extract(epoch FROM clock_timestamp())::float8 * 1000 AS "takenAt"
      FROM clock`;
  if (clock === undefined) throw new Error('the database has no row for its clock');
  const signing = await sql<{ id: string; jwk: Parameters<typeof publicPart>[0] }[]>`
    SELECT id, private_jwk AS jwk FROM signing_keys`;
  const sealing = await sql<{ id: string; key: string }[]>`SELECT id, encode(key, 'hex') AS key FROM sealing_keys`;
  const signingKeys = signing.map(({ id, jwk }) => ({ id, publicJwk: { ...publicPart(jwk) } as JsonValue }));
  return { ...clock, signingKeys, sealingKeys: sealing };
}

/**
 * Adds the keys of the other installation. Its signing keys verify tokens of this account only, and are dropped when the last token they
 * signed has expired; its sealing keys open, and do not seal: a key of our own is newer than the beginning of time.
 */
export async function addKeys(sql: Sql, { id, signingKeys, sealingKeys }: ExportedAccount): Promise<void> {
  for (const key of signingKeys)
    await sql`
      INSERT INTO imported_signing_keys (account_id, id, public_jwk)
      VALUES (${id}, ${key.id}, ${sql.json(key.publicJwk)})
      ON CONFLICT (account_id, id) DO UPDATE SET imported_at = excluded.imported_at`;
  for (const key of sealingKeys)
    await sql`
      INSERT INTO sealing_keys (id, key, created_at)
      VALUES (${key.id}, decode(${key.key}, 'hex'), '-infinity')
      ON CONFLICT (id) DO NOTHING`;
}
