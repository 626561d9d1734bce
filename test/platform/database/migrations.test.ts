import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openDatabase, type Database, type Sql } from '../../../packages/server/src/platform/database/database.ts';
import { migrationFaults } from '../../../packages/server/src/platform/database/migrations/migration-kinds.ts';
import { createLog } from '../../../packages/server/src/platform/log.ts';
import {
  breakingWarning,
  logMigrations,
} from '../../../packages/server/src/platform/database/migrations/migration-log.ts';
import {
  createSchema,
  knownMigrations,
  migrate,
  pendingMigrations,
  schemaState,
} from '../../../packages/server/src/platform/database/migrations/migrations.ts';
import { emptyDatabase } from '../../support/database/database.ts';
import { until } from '../../support/server.ts';

const folder = `${mkdtempSync(join(tmpdir(), 'usher-migrations-'))}/`;
after(() => rmSync(folder, { recursive: true, force: true }));
const file = (name: string, ...lines: string[]): void => writeFileSync(`${folder}${name}`, `${lines.join('\n')}\n`);
file('0001_first.sql', '-- additive', 'CREATE TABLE things (id integer);', 'INSERT INTO things VALUES (1);');

async function withEmptyDatabase(use: (database: Database) => Promise<void>): Promise<void> {
  const database = openDatabase(await emptyDatabase(), 4);
  try {
    await use(database);
  } finally {
    await database.close(1_000);
  }
}

test('every migration keeps what its first line promises', async () => {
  for (const { number, file: name } of await knownMigrations())
    assert.deepEqual(migrationFaults(number, readFileSync(`packages/server/migrations/${name}`, 'utf8')), [], name);
});

test('an additive migration must not break programs of the version before, or keep them waiting', () => {
  const faults = (...lines: string[]): readonly string[] => migrationFaults(100, lines.join('\n'));
  assert.match(faults('CREATE TABLE a (id uuid);')[0] ?? '', /^the first line must be/);
  assert.deepEqual(faults('-- additive', 'ALTER TABLE a DROP COLUMN b;'), ['drops something']);
  assert.deepEqual(faults('-- breaking', 'ALTER TABLE a DROP COLUMN b;'), []);
  assert.deepEqual(faults('-- additive', 'ALTER TABLE a RENAME COLUMN b TO c;'), ['renames something']);
  assert.deepEqual(faults('-- additive', 'ALTER TABLE a ALTER COLUMN b TYPE text;'), ['changes the type of a column']);
  assert.deepEqual(faults('-- additive', 'ALTER TABLE a ADD COLUMN b text NOT NULL;'), [
    'adds a column that is NOT NULL without a default',
  ]);
  assert.deepEqual(faults('-- additive', "ALTER TABLE a ADD COLUMN b text NOT NULL DEFAULT '';"), []);
  const body = ['LANGUAGE sql AS $$', '  DELETE FROM a', '$$;'];
  assert.deepEqual(faults('-- additive', 'CREATE FUNCTION f() RETURNS void', ...body), []);
  assert.deepEqual(faults('-- additive', 'DO $$', 'BEGIN DELETE FROM a; END', '$$;'), ['deletes rows']);
  assert.deepEqual(faults('-- additive', 'CREATE INDEX ON a (b);'), ['builds an index on a in a transaction']);
  assert.deepEqual(faults('-- additive', 'CREATE TABLE a (b text);', 'CREATE INDEX ON a (b);'), []);
  assert.deepEqual(
    faults('-- additive, outside a transaction', 'CREATE INDEX CONCURRENTLY IF NOT EXISTS a_b ON a (b);'),
    [],
  );
  assert.deepEqual(faults('-- additive, outside a transaction', 'CREATE INDEX a_b ON a (b);'), [
    'must build the index on a with CREATE INDEX CONCURRENTLY IF NOT EXISTS',
  ]);
});

test('a program can use a schema that is newer by additive migrations, and no other', async () => {
  await withEmptyDatabase(async (database) => {
    await migrate(database, undefined, { folder });
    const { sql } = database;
    assert.deepEqual(await schemaState(sql, 1), { version: 1, isCompatible: true });
    assert.deepEqual(await schemaState(sql, 2), { version: 1, isCompatible: false });
    await sql`INSERT INTO migrations (number, file, kind) VALUES (2, '0002_later.sql', 'additive')`;
    assert.deepEqual(await schemaState(sql, 1), { version: 2, isCompatible: true });
    await migrate(database, undefined, { folder });
    await sql`INSERT INTO migrations (number, file, kind) VALUES (3, '0003_breaking.sql', 'breaking')`;
    assert.deepEqual(await schemaState(sql, 1), { version: 3, isCompatible: false });
    await assert.rejects(migrate(database, undefined, { folder }), /newer than this Usher knows/);
  });
});

test('with USHER_MIGRATE=off an old schema is refused and not changed', async () => {
  await withEmptyDatabase(async (database) => {
    await assert.rejects(
      migrate(database, undefined, { folder, mode: 'off' }),
      /USHER_MIGRATE is off: run "usher migrate"/,
    );
    assert.deepEqual(
      (await pendingMigrations(database.sql, folder)).map(({ file: name, kind }) => [name, kind.compatibility]),
      [['0001_first.sql', 'additive']],
    );
    await migrate(database, undefined, { folder });
    await migrate(database, undefined, { folder, mode: 'off' });
    assert.deepEqual(await pendingMigrations(database.sql, folder), []);
  });
});

test('a migration waits for a lock only shortly, so that others are not kept waiting, and tries again', async () => {
  await withEmptyDatabase(async (database) => {
    await migrate(database, undefined, { folder });
    const { sql } = database;
    file('0002_column.sql', '-- additive', 'ALTER TABLE things ADD COLUMN name text;');
    const release = Promise.withResolvers<void>();
    const held = sql.begin(async (own) => {
      await own`LOCK TABLE things IN ACCESS SHARE MODE`;
      await release.promise;
    });
    let retries = 0;
    const migrated = migrate(database, undefined, { folder, onRetry: () => void (retries += 1) });
    await until(() => retries > 0);
    // Between two attempts the table is free for everybody.
    assert.equal((await sql`SELECT * FROM things`).length, 1);
    release.resolve();
    await Promise.all([held, migrated]);
    assert.deepEqual(await schemaState(sql, 2), { version: 2, isCompatible: true });
    rmSync(`${folder}0002_column.sql`);
  });
});

test('the log has a line for each migration of an upgrade, and a warning before breaking ones', async () => {
  await withEmptyDatabase(async (database) => {
    const lines: Record<string, unknown>[] = [];
    const log = createLog('debug', { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) });
    const logged = (): unknown[] =>
      lines.splice(0).map(({ level, migration, kind, breaking, msg }) => ({ level, migration, kind, breaking, msg }));
    const migrated = (level: string, name: string, kind: string): object => ({
      level,
      migration: name,
      kind,
      breaking: undefined,
      msg: 'migrated',
    });
    const none = { migration: undefined, kind: undefined, breaking: undefined };
    await migrate(database, undefined, { folder, ...logMigrations(log) });
    assert.deepEqual(logged(), [
      { ...none, level: 'info', msg: 'creating the schema of a new database' },
      migrated('debug', '0001_first.sql', 'additive'),
    ]);
    file('0002_column.sql', '-- additive', 'ALTER TABLE things ADD COLUMN name text;');
    file('0003_gone.sql', '-- breaking', 'ALTER TABLE things DROP COLUMN name; SELECT pg_sleep(0.02);');
    await migrate(database, undefined, { folder, ...logMigrations(log) });
    assert.ok(Number(lines.at(-1)?.['ms']) >= 20, 'the time of a migration is logged');
    assert.deepEqual(logged(), [
      { ...none, level: 'warn', breaking: ['0003_gone.sql'], msg: breakingWarning },
      migrated('info', '0002_column.sql', 'additive'),
      migrated('info', '0003_gone.sql', 'breaking'),
    ]);
    await migrate(database, undefined, { folder, ...logMigrations(log) });
    assert.deepEqual(logged(), []);
    for (const name of ['0002_column.sql', '0003_gone.sql']) rmSync(`${folder}${name}`);
  });
});

test('an index is built while others write, and again if the process that built it died', async () => {
  await withEmptyDatabase(async (database) => {
    await migrate(database, undefined, { folder });
    const { sql } = database;
    await sql`INSERT INTO things SELECT generate_series(2, 1000)`;
    // What a build leaves behind that fails or is cut off: an invalid index with the name of the new one.
    await sql`INSERT INTO things VALUES (1)`;
    await assert.rejects(
      sql`CREATE UNIQUE INDEX CONCURRENTLY things_id ON things (id)`,
      /could not create unique index/,
    );
    await sql`DELETE FROM things WHERE ctid = (SELECT max(ctid) FROM things WHERE id = 1)`;
    file(
      '0002_index.sql',
      '-- additive, outside a transaction',
      '-- A comment; with a semicolon.',
      'CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS things_id ON things (id);',
    );
    await Promise.all([migrate(database, undefined, { folder }), migrate(database, undefined, { folder })]);
    const [index] = await sql`SELECT indisvalid FROM pg_index WHERE indexrelid = 'things_id'::regclass`;
    assert.equal(index?.['indisvalid'], true);
    assert.deepEqual(await schemaState(sql, 2), { version: 2, isCompatible: true });
    rmSync(`${folder}0002_index.sql`);
  });
});

test('an invalid index of somebody else is kept, and so is an index that another session is still building', async () => {
  await withEmptyDatabase(async (database) => {
    await migrate(database, undefined, { folder });
    const { sql } = database;
    await sql`INSERT INTO things VALUES (1)`;
    await assert.rejects(
      sql`CREATE UNIQUE INDEX CONCURRENTLY things_unique ON things (id)`,
      /could not create unique index/,
    );
    const release = Promise.withResolvers<void>();
    const writing = sql.begin(async (own) => {
      await own`INSERT INTO things VALUES (2)`;
      await release.promise;
    });
    // Waits for the writer, as the rest of an earlier attempt may, whose process has died.
    const building = sql`CREATE INDEX CONCURRENTLY things_id ON things (id)`.execute();
    const oid = async (): Promise<unknown> => {
      const [index] =
        await sql`SELECT indexrelid, indisvalid FROM pg_index WHERE indexrelid = to_regclass('things_id')`;
      return index?.['indexrelid'];
    };
    await until(async () => (await oid()) !== undefined);
    const built = await oid();
    file(
      '0002_index.sql',
      '-- additive, outside a transaction',
      'CREATE INDEX CONCURRENTLY IF NOT EXISTS things_id ON things (id);',
    );
    const migrated = migrate(database, undefined, { folder });
    const waits = async (): Promise<boolean> => {
      const [row] = await sql<{ checks: number }[]>`
        SELECT count(*)::integer AS checks FROM pg_stat_activity
         WHERE datname = current_database()
           AND (query LIKE '%pg_stat_progress_create_index p%' OR query LIKE 'DROP INDEX%') AND pid <> pg_backend_pid()`;
      return row?.checks === 1;
    };
    await until(waits);
    release.resolve();
    await Promise.all([writing, building, migrated]);
    assert.equal(await oid(), built);
    const invalid = await sql`SELECT indexrelid::regclass::text AS name FROM pg_index WHERE NOT indisvalid`;
    assert.deepEqual(
      invalid.map(({ name }) => name as string),
      ['things_unique'],
    );
    rmSync(`${folder}0002_index.sql`);
  });
});

test('a process that has lost the migration lock applies nothing', async () => {
  await withEmptyDatabase(async (database) => {
    await migrate(database, undefined, { folder });
    const { sql } = database;
    file('0002_column.sql', '-- additive', 'ALTER TABLE things ADD COLUMN name text;');
    const release = Promise.withResolvers<void>();
    const held = sql.begin(async (own) => {
      await own`LOCK TABLE things IN ACCESS SHARE MODE`;
      await release.promise;
    });
    const killed = Promise.withResolvers<void>();
    const onRetry = (): void => {
      const kill = sql`
        SELECT pg_terminate_backend(pid, 5000) FROM pg_locks
         WHERE locktype = 'advisory' AND granted
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
      kill.then(() => killed.resolve(), killed.reject);
    };
    const migrated = assert.rejects(
      migrate(database, undefined, { folder, onRetry }),
      /connection that held the migration lock was lost/,
    );
    await killed.promise;
    release.resolve();
    await Promise.all([held, migrated]);
    assert.deepEqual(await schemaState(sql, 1), { version: 1, isCompatible: true });
    rmSync(`${folder}0002_column.sql`);
  });
});

test('all migrations run over the connection that holds the lock, however long they take', async () => {
  await withEmptyDatabase(async (database) => {
    const brief: Database = { ...database, connect: (options) => database.connect({ max_lifetime: 1, ...options }) };
    file('0002_slow.sql', '-- additive', 'CREATE TABLE backends AS SELECT pg_backend_pid() AS pid FROM pg_sleep(1.5);');
    file('0003_next.sql', '-- additive', 'INSERT INTO backends (pid) SELECT pg_backend_pid();');
    const after = async (sql: Sql): Promise<void> =>
      void (await sql`INSERT INTO backends (pid) SELECT pg_backend_pid()`);
    await migrate(brief, after, { folder });
    const [row] =
      await database.sql`SELECT count(*)::integer AS rows, count(DISTINCT pid)::integer AS backends FROM backends`;
    assert.deepEqual({ ...row }, { rows: 3, backends: 1 });
    for (const name of ['0002_slow.sql', '0003_next.sql']) rmSync(`${folder}${name}`);
  });
});

test('a schema is created in one transaction, also with indexes that are built concurrently elsewhere, and only without tables', async () => {
  await withEmptyDatabase(async (database) => {
    const { sql } = database;
    file(
      '0002_index.sql',
      '-- additive, outside a transaction',
      'CREATE INDEX CONCURRENTLY IF NOT EXISTS things_one ON things (id);',
      'CREATE INDEX CONCURRENTLY IF NOT EXISTS things_two ON things ((id + 1));',
    );
    const create = async (own: Sql): Promise<void> => createSchema(own, 2, folder);
    await assert.rejects(
      sql.begin(async (own) => {
        await create(own);
        throw new Error('undone');
      }),
      /undone/,
    );
    await sql.begin(create);
    assert.deepEqual(await schemaState(sql, 2), { version: 2, isCompatible: true });
    const [indexes] = await sql`SELECT count(*)::integer AS count FROM pg_index WHERE indrelid = 'things'::regclass`;
    assert.equal(indexes?.['count'], 2);
    await assert.rejects(sql.begin(create), /^StartError: The database is not empty: it has a table "migrations"/);
    rmSync(`${folder}0002_index.sql`);
  });
});
