import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ensureSigningKey } from '../../../packages/server/src/identity/signing-keys.ts';
import { openDatabase } from '../../../packages/server/src/platform/database/database.ts';
import { DiskWatch } from '../../../packages/server/src/platform/embedded/disk-watch.ts';
import { createLog } from '../../../packages/server/src/platform/log.ts';
import { migrate } from '../../../packages/server/src/platform/database/migrations/migrations.ts';
import { WriteSwitch } from '../../../packages/server/src/platform/embedded/write-switch.ts';
import { engage, sendText, say, transcript } from '../../support/people/chat.ts';
import { startEmbeddedCluster } from '../../support/database/embedded-cluster.ts';
import { mountSmallDisk } from '../../support/database/small-disk.ts';
import { fileForm } from '../../support/people/files.ts';
import { databaseProcess, launch } from '../../support/processes/process.ts';
import { call, startTestServer, until, type Answer } from '../../support/server.ts';
import { hangMs } from '../../support/slowness.ts';
import { expectStatus, makeAccount, signIn } from '../../support/world.ts';

/** `npm run prove` runs the long form. */
const isLong = process.env['PROVE'] !== undefined;
const mebibyte = 1024 * 1024;

function expectFull(answer: Answer): void {
  expectStatus(answer, 507);
  assert.equal(answer.body.error, 'insufficient_storage');
  assert.match(answer.body.detail, /disk .* is full.*Free space/);
  assert.equal(answer.headers.get('retry-after'), '10');
}

test('while its disk is full the embedded database refuses all writes, and reads continue', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'usher-full-'));
  const postgres = await startEmbeddedCluster(dataDir, { fsync: 'off' });
  const setUp = openDatabase(postgres.address, 2);
  await migrate(setUp, ensureSigningKey);
  await setUp.close();
  let free = 1_024 * mebibyte;
  const disk = new DiskWatch(dataDir, async () => free);
  const writes = new WriteSwitch(postgres.address, disk, createLog('silent'));
  await writes.set();
  const server = await startTestServer({ dataDir }, postgres.address, {}, disk);
  const readOnly = async (): Promise<unknown> =>
    (await server.database.sql`SELECT current_setting('default_transaction_read_only') AS now`)[0]?.['now'];
  try {
    const chat = await engage(server);
    const { admin: token, siteId, key } = chat.own;
    await sendText(chat, chat.visitor, 'before');

    free = 100 * mebibyte;
    await until(async () => (await readOnly()) === 'on');
    expectFull(await call(server, 'POST /teams', { token, body: { site_id: siteId, name: 'T' } }));
    const headers = { 'idempotency-key': 'a-key' };
    expectFull(await call(server, 'POST /teams', { token, headers, body: { site_id: siteId, name: 'T' } }));
    expectFull(await say(chat, chat.visitor, 'while it is full'));
    const offer = `PUT /operators/${chat.operator.id}/presence`;
    expectFull(await call(server, offer, { token: chat.operator.token, body: { available: false } }));
    const files = `POST /engagements/${chat.id}/files`;
    expectFull(await call(server, files, { token: chat.visitor.token, body: fileForm('a note') }));
    expectFull(await call(server, 'GET /readyz'));
    expectStatus(await call(server, 'GET /healthz'), 200);
    assert.equal((await transcript(chat, chat.visitor)).length, 1);
    // A read that needs a turn is refused, because the turn writes due changes.
    expectFull(await call(server, 'GET /engagement_requests?state=pending', { token: chat.operator.token }));
    expectStatus(await call(server, 'GET /sites', { token: await signIn(server, key) }), 200);

    // A little free space is not enough: the next write could fill the disk again.
    free = 140 * mebibyte;
    await disk.check();
    assert.equal(disk.isFull, true);
    free = 200 * mebibyte;
    await until(async () => (await readOnly()) === 'off');
    await sendText(chat, chat.visitor, 'afterwards');
    expectStatus(await call(server, files, { token: chat.visitor.token, body: fileForm('a note') }), 200);
    expectStatus(await call(server, 'POST /teams', { token, headers, body: { site_id: siteId, name: 'T' } }), 201);
    expectStatus(await call(server, 'GET /readyz'), 200);
    assert.equal((await transcript(chat, chat.visitor)).length, 2);
  } finally {
    await server[Symbol.asyncDispose]();
    await writes.stop();
    disk.stop();
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
});

test('an external database with a full disk is answered with 507', async () => {
  await using server = await startTestServer();
  const { admin: token, siteId } = await makeAccount(server);
  await server.database.sql.unsafe(`
    CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
    CREATE TRIGGER fill BEFORE INSERT ON teams FOR EACH ROW EXECUTE FUNCTION fill();`);
  expectFull(await call(server, 'POST /teams', { token, body: { site_id: siteId, name: 'T' } }));
});

const secret = 'known-to-the-test-alone';

test('a disk that fills up under load loses no data, and Usher recovers by itself', { timeout: hangMs }, async (t) => {
  const disk = mountSmallDisk('420m');
  if (disk === null)
    return t.diagnostic('not run: only root may mount a small disk, on Linux. The test above does without one.');
  t.after(() => disk.unmount());
  const dataDir = join(disk.path, 'data');
  const environment = {
    USHER_ADMIN_KEY_ID: 'admin',
    USHER_ADMIN_KEY_SECRET: secret,
    USHER_RATE_LIMIT_PER_TOKEN: '1000000000',
    USHER_RATE_LIMIT_SIGN_IN: '1000000000',
  };
  const usher = await launch({ dataDir, environment }).ready();
  const address = { kind: 'socket', directory: join(dataDir, 'run'), user: 'usher', database: 'postgres' } as const;
  const database = openDatabase(address, 2);
  const chat = await engage({ url: usher.url, database });
  const acknowledged: string[] = [];
  const seen = new Map<number, number>();
  const stopped = new AbortController();
  const write = async (): Promise<void> => {
    let id = randomUUID();
    while (!stopped.signal.aborted) {
      const { status, body } = await say(chat, chat.visitor, randomBytes(3_000).toString('hex'), id);
      seen.set(status, (seen.get(status) ?? 0) + 1);
      assert.ok([200, 503, 507].includes(status), `${status} ${JSON.stringify(body)}`);
      if (status === 200) {
        acknowledged.push(id);
        id = randomUUID();
      }
      // The client pauses after a refusal.
      else await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const upload = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      const body = fileForm(randomBytes(mebibyte).toString('hex'));
      await call({ url: usher.url }, `POST /engagements/${chat.id}/files`, { token: chat.visitor.token, body });
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  };
  const ready = async (): Promise<number> => (await call({ url: usher.url }, 'GET /readyz')).status;
  const count = (status: number): number => seen.get(status) ?? 0;
  const writers = Promise.all([...Array.from({ length: 4 }, write), upload()]);
  try {
    await until(() => acknowledged.length > 50);
    const rounds = isLong ? 5 : 1;
    for (let round = 0; round < rounds; round += 1) {
      const [refused, taken] = [count(507), acknowledged.length];
      while ((await ready()) === 200) {
        disk.fillBy(10);
        await new Promise((resolve) => setTimeout(resolve, 250));
      }
      await until(() => count(507) > refused);
      assert.ok(disk.freeMb() > 60, `${disk.freeMb().toFixed(0)} MiB are left`);
      assert.ok((await transcript(chat, chat.visitor)).length > 0);
      disk.free();
      await until(() => acknowledged.length > taken + 20, 30_000);
      await until(async () => (await ready()) === 200);
    }
    t.diagnostic(`answers: ${JSON.stringify(Object.fromEntries(seen))}`);

    // Another program fills the disk at once, and the database crashes.
    const died = databaseProcess(dataDir);
    disk.fill();
    assert.ok(disk.freeMb() < 2);
    await until(async () => (await ready()) !== 200);
    if (died !== null) process.kill(died, 'SIGKILL');
    await until(async () => (await ready()) === 507);
    const taken = acknowledged.length;
    disk.free();
    await until(() => acknowledged.length > taken + 20, 60_000);
    assert.notEqual(databaseProcess(dataDir), died);
  } finally {
    stopped.abort();
    await writers;
    await database.close(0);
    if (usher.child.exitCode === null) assert.equal(await usher.stop(), 0);
  }
  const again = await launch({ dataDir, environment }).ready();
  try {
    const sql = openDatabase(address, 1);
    const rows = await sql.sql<{ id: string }[]>`SELECT id FROM chat_messages`;
    await sql.close(0);
    const stored = new Set(rows.map(({ id }) => id));
    const lost = acknowledged.filter((id) => !stored.has(id));
    t.diagnostic(`${acknowledged.length} messages were acknowledged, ${lost.length} lost`);
    assert.deepEqual(lost, []);
  } finally {
    await again.stop();
  }
});
