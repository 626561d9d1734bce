import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Database, Sql } from './database.ts';
import { StartError } from './errors.ts';
import { startPools } from './pools.ts';

const folder = fileURLToPath(new URL('../../migrations/', import.meta.url));

/** An arbitrary number that must never change, or two versions of Usher could migrate at the same time. */
const migrationLock = 7_483_650_217;

interface Migration {
  readonly number: number;
  readonly file: string;
}

/** The migrations of this program, numbered from 1 without a gap. */
export async function knownMigrations(): Promise<readonly Migration[]> {
  const files = (await readdir(folder)).filter((file) => /^\d{4}_\w+\.sql$/.test(file)).toSorted();
  const migrations = files.map((file) => ({ number: Number(file.slice(0, 4)), file }));
  const gap = migrations.find(({ number }, index) => number !== index + 1);
  if (gap !== undefined) throw new Error(`migration ${gap.file} is out of sequence`);
  return migrations;
}

/**
 * Migrates the schema to the version of this program and then runs `after`, all in one transaction.
 * The lock serialises processes that start together; the later ones find nothing left to do.
 */
export async function migrate(
  database: Database,
  after: (sql: Sql) => Promise<void> = async () => undefined,
): Promise<void> {
  const known = await knownMigrations();
  const pool = database.connect(startPools.migrations);
  try {
    await pool.begin(async (sql) => {
      await sql`SELECT pg_advisory_xact_lock(${migrationLock})`;
      await refuseOldServer(sql);
      await sql`
        CREATE TABLE IF NOT EXISTS migrations (
          number     integer        PRIMARY KEY,
          file       text           NOT NULL,
          applied_at timestamptz(3) NOT NULL DEFAULT now()
        )`;
      const current = await schemaVersion(sql);
      refuseNewerSchema(current, known.length);
      for (const { number, file } of known.slice(current)) {
        await sql.unsafe(await readFile(`${folder}${file}`, 'utf8'));
        await sql`INSERT INTO migrations (number, file) VALUES (${number}, ${file})`;
      }
      await after(sql);
    });
  } finally {
    await pool.end({ timeout: 1 });
  }
}

export async function schemaVersion(sql: Sql): Promise<number> {
  const [row] = await sql<{ version: number }[]>`SELECT coalesce(max(number), 0) AS version FROM migrations`;
  return row?.version ?? 0;
}

function refuseNewerSchema(current: number, known: number): void {
  if (current <= known) return;
  throw new StartError(
    `The database has schema version ${current}, newer than this Usher knows (${known}). Start a newer Usher, or restore a backup made with this version.`,
  );
}

async function refuseOldServer(sql: Sql): Promise<void> {
  const [row] = await sql<{ version: number; text: string }[]>`
    SELECT current_setting('server_version_num')::integer AS version, current_setting('server_version') AS text`;
  if (row !== undefined && row.version < 150_000) {
    throw new StartError(`Usher needs PostgreSQL 15 or newer; DATABASE_URL points to version ${row.text}.`);
  }
}
