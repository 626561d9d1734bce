import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readConfig } from '../../packages/server/src/config.ts';
import { parseCommandLine } from '../../packages/server/src/cli/command.ts';
import { commands } from '../../packages/server/src/cli/commands.ts';
import { completionScript } from '../../packages/server/src/cli/commands/completion.ts';
import { freePort } from '../support/network/free-port.ts';
import { launch, type UsherProcess } from '../support/processes/process.ts';

const folder = mkdtempSync(join(tmpdir(), 'usher-cli-'));
const launched: UsherProcess[] = [];
after(async () => {
  for (const usher of launched) await usher.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function run(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<UsherProcess> {
  const usher = launch({ dataDir: join(folder, 'data'), args, environment });
  launched.push(usher);
  await usher.ended();
  return usher;
}

test('--help describes every command and does nothing else, even with an invalid setting', async () => {
  const overview = await run(['--help']);
  for (const [name, { load }] of Object.entries(commands)) {
    assert.match(overview.output, new RegExp(`^  ${name} +\\S`, 'm'));
    const command = await load();
    assert.match(command.help, new RegExp(`^usher ${name}\\b.*\\n\\n  [A-Z]`));
    assert.equal(parseCommandLine(name, command, ['something', '--help']), null);
  }
  for (const name of ['accounts create', 'restore', 'listen']) {
    const help = await run([...name.split(' '), '--help'], { USHER_LOG_LEVEL: 'loud' });
    assert.deepEqual([help.child.exitCode, help.errors], [0, ''], name);
    assert.equal(help.output, (await commands[name]?.load())?.help);
  }
  assert.equal(existsSync(join(folder, 'data')), false, 'no data folder was created');
});

test('every group of commands has a help of its own, and so has completion', async () => {
  const groups = new Set(Object.keys(commands).flatMap((name) => (name.includes(' ') ? name.split(' ', 1) : [])));
  for (const group of groups) {
    const { child, output, errors } = await run([group, '--help']);
    assert.deepEqual([child.exitCode, errors], [0, ''], group);
    for (const name of Object.keys(commands).filter((each) => each.startsWith(`${group} `)))
      assert.match(output, new RegExp(`^ +usher ${name} +\\S`, 'm'));
  }
  assert.match((await run(['completion', '--help'])).output, /^usher completion <bash\|zsh\|fish>\n\n {2}Prints/);
  assert.equal((await run(['help', 'config', 'pull'])).output, (await run(['config', 'pull', '--help'])).output);
});

test('a wrong command line exits with 64, names the mistake and asks for help', async () => {
  for (const [args, line] of [
    [['config'], /^usher: Say what to do with config: pull, plan or apply\. See usher config --help\.\n$/],
    [['config', 'push', 'x'], /^usher: There is no command "config push"\. See usher config --help\.\n$/],
    [['dance'], /^usher: There is no command "dance"\. See usher --help\.\n$/],
    [['--dance'], /^usher: There is no option "--dance"\. See usher --help\.\n$/],
    [
      ['events', '--since', 'yesterday', '--key-id', 'a', '--key-secret', 'b'],
      /^usher: --since must be a date and time/,
    ],
    [['queues', 'get', 'first', '--key-id', 'a', '--key-secret', 'b'], /^usher: "first" is not an id\./],
  ] as const) {
    const { child, errors, output } = await run(args);
    assert.deepEqual([child.exitCode, output], [64, ''], errors);
    assert.match(errors, line);
  }
});

test('the version, and errors that name the command to ask for help', async () => {
  assert.match((await run(['--version'])).output, /^\d+\.\d+\.\d+\n$/);
  for (const [args, line] of [
    [['accounts', 'create'], 'The argument <name> is missing. See usher accounts create --help.'],
    [['accounts', 'create', ' '], 'The name of the account must not be empty.'],
    [['accounts', 'list', 'all'], 'Unexpected argument "all". See usher accounts list --help.'],
    [['signing-keys', 'rotate', '--now'], "Unknown option '--now'. See usher signing-keys rotate --help."],
    [['migrate', '--check', '--plan'], '--check and --plan exclude each other. See usher migrate --help.'],
    [['completion', 'csh'], /^Name your shell: usher completion bash\|zsh\|fish, not "csh"\.$/m],
    [['completion'], 'The argument <bash|zsh|fish> is missing. See usher completion --help.'],
  ] as const) {
    const { child, errors, output } = await run(args);
    assert.deepEqual([child.exitCode, output], [64, ''], errors);
    if (typeof line === 'string') assert.equal(errors, `usher: ${line}\n`);
    else assert.match(errors.replace('usher: ', ''), line);
  }
});

test('status, doctor and the commands on the database print JSON for programs', async () => {
  const port = await freePort();
  const environment = { PORT: String(port) };
  const absent = await run(['status'], environment);
  assert.equal(absent.child.exitCode, 1);
  assert.match(absent.errors, /^usher: No server answers at http:\/\/127\.0\.0\.1:\d+\. Start it with "usher serve"/);

  const server = launch({ dataDir: join(folder, 'data'), port, environment });
  launched.push(server);
  await server.ready();
  const json = async (...args: string[]): Promise<Record<string, unknown>> => {
    const { output, errors } = await run([...args, '--json'], environment);
    assert.equal(errors, '');
    return JSON.parse(output) as Record<string, unknown>;
  };
  const status = await json('status');
  assert.deepEqual([status['ready'], status['url']], [true, server.url]);
  assert.match(
    (await run(['status'], environment)).output,
    /^Ready: Usher \d+\.\d+\.\d+ \((?:commit [\da-f]{12}, )?schema \d+\) at http/,
  );
  assert.deepEqual(Object.keys(await json('accounts', 'create', 'Second')), ['id', 'secret']);
  const { accounts } = (await json('accounts', 'list')) as { accounts: { name: string; sites: number }[] };
  assert.deepEqual(accounts.map(({ name, sites }) => [name, sites]).slice(1), [['Second', 1]]);
  assert.deepEqual(await json('migrate', '--plan'), { pending: [] });
  assert.equal((await run(['migrate', '--check'], environment)).child.exitCode, 0);
  assert.match(String((await json('sign-in-link'))['url']), /\/console\/sign-in#usl_/);

  const { findings } = (await json('doctor')) as { findings: { check: string; result: string }[] };
  assert.deepEqual(
    findings.map(({ check, result }) => `${check} ${result}`),
    ['settings', 'data folder', `port ${port}`, 'database', 'database rights', 'schema', 'transactions', 'clock'].map(
      (each) => `${each} ok`,
    ),
  );
  await server.stop();
});

test('doctor names what is wrong and what to do', async () => {
  const port = await freePort();
  const { child, output } = await run(['doctor'], {
    DATABASE_URL: `postgres://me:hunter2@127.0.0.1:${port}/x`,
    USHER_PUBLIC_URL: `http://127.0.0.1:${port}`,
    USHER_ICE_SERVERS: `turn:127.0.0.1:${port}?transport=tcp`,
    USHER_TURN_SECRET: 'sixteen-characters',
    USHER_FILES: `s3://uploads?endpoint=http://127.0.0.1:${port}`,
    AWS_ACCESS_KEY_ID: 'one',
    AWS_SECRET_ACCESS_KEY: 'hunter2',
  });
  assert.equal(child.exitCode, 1);
  assert.match(output, /^FAULT +database: The database at \S+ cannot be reached \(ECONNREFUSED\)\./m);
  assert.match(output, /^warning +public URL: \S+ does not answer \(ECONNREFUSED\)\. Check USHER_PUBLIC_URL/m);
  assert.match(
    output,
    /^warning +turn server: 127\.0\.0\.1 cannot be reached \(ECONNREFUSED\)\. Check USHER_ICE_SERVERS\./m,
  );
  assert.match(
    output,
    /^FAULT +bucket: s3:\/\/uploads\/ at http:\S+ cannot be used \(.*ECONNREFUSED.*\)\. Check USHER_FILES and the credentials\.$/m,
  );
  assert.doesNotMatch(output, /hunter2/);
});

test('variables that Kubernetes sets for Services do not stop the start', () => {
  const service = {
    USHER_PORT: 'tcp://10.0.0.7:8080',
    USHER_PORT_8080_TCP: 'tcp://10.0.0.7:8080',
    USHER_PORT_8080_TCP_ADDR: '10.0.0.7',
    USHER_PORT_8080_TCP_PORT: '8080',
    USHER_PORT_8080_TCP_PROTO: 'tcp',
    USHER_SERVICE_HOST: '10.0.0.7',
    USHER_SERVICE_PORT: '8080',
    USHER_SERVICE_PORT_HTTP: '8080',
    USHER_DATABASE_PORT: 'tcp://10.0.0.8:5432',
    USHER_DATABASE_SERVICE_HOST: '10.0.0.8',
  };
  assert.equal(readConfig(service).port, 8080);
  assert.throws(() => readConfig({ USHER_PORT: '8080' }), /USHER_PORT is not a setting of Usher/);
});

test('the shell completes commands and their options', () => {
  const script = completionScript('bash', [
    { name: 'serve', summary: '', flags: ['--help'] },
    { name: 'accounts create', summary: '', flags: ['--json', '--help'] },
    { name: 'accounts list', summary: '', flags: ['--json', '--help'] },
  ]);
  const complete = (...words: string[]): string =>
    execFileSync(
      'bash',
      ['-c', `${script}\nCOMP_WORDS=(usher "$@"); COMP_CWORD=$#; _usher; echo "\${COMPREPLY[*]}"`, 'bash', ...words],
      { encoding: 'utf8' },
    ).trim();
  assert.equal(complete('acc'), 'accounts');
  assert.equal(complete('accounts', ''), 'create list');
  assert.equal(complete('accounts', 'l'), 'list');
  assert.equal(complete('accounts', 'create', '--j'), '--json');
});
