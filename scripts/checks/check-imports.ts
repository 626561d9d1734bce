import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';

/**
 * Checks the structure of the packages. Rules for imports, including imports of types:
 *
 * - a package imports only the packages that `packages` lists for it;
 * - in the server, a room imports only rooms before it, and a folder of `platform/` only folders before it;
 * - there are no import cycles, not even inside a room;
 * - routes are imported only by the `room.ts` of their room, or by a `routes.ts` of that room that registers them with its own;
 * - no room imports the files that wire the server;
 * - a folder has at most `mostFiles` source files.
 *
 * Rule for SQL: statements are in `store.ts` or `…-store.ts`, in a folder `storage/`, in `platform/`, and in the files that
 * `withStatements` lists.
 */
const mostFiles = 25;

const packages: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  sdk: [],
  client: ['sdk'],
  call: ['sdk'],
  reference: ['sdk'],
  sample: ['contract'],
  server: ['contract', 'sdk', 'sample'],
  console: ['contract', 'sdk', 'client', 'call'],
  widget: ['contract', 'sdk', 'client', 'call'],
};

const chain = [
  'carriers',
  'config',
  'platform',
  'identity',
  'channels',
  'events',
  'schedules',
  'queues',
  'routing',
  'engagements',
  'feed',
];
const before = (room: string): readonly string[] => chain.slice(0, chain.indexOf(room));

const rooms: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(chain.map((room) => [room, before(room)])),
  webhooks: before('schedules'),
  'site-deletion': before('feed'),
  'account-deletion': [...before('feed'), 'site-deletion'],
  backup: before('feed'),
  'account-moving': [...before('feed'), 'account-deletion', 'backup'],
  mcp: before('channels'),
  sample: [...chain, 'webhooks', 'site-deletion'],
};

/** The folders of `platform/`. The files beside them come first, except `room.ts`, which opens the platform. */
const layers = [
  'basics',
  'pictures',
  'engine',
  'database',
  'clock',
  'embedded',
  'limits',
  'outbound',
  'http',
  'watching',
  'reference',
  'room.ts',
];

const source = resolve('packages/server/src');
const wiring = new Set(['main.ts', 'app.ts', 'edge.ts', 'storage.ts', 'housekeeping.ts']);

/** Files with statements that are not stores, by the reason. */
const withStatements: Readonly<Record<string, readonly string[]>> = {
  'the statement is the use case, and its comment explains each part of it': [
    'engagements/signals/send-signal.ts',
    'feed/log.ts',
    'identity/visitors/sweep.ts',
    'routing/move-times.ts',
    'routing/write-turn.ts',
    'site-deletion/remove-remains.ts',
    'webhooks/deliveries/requeue.ts',
    'webhooks/deliveries/replay.ts',
    'webhooks/deliveries/walk.ts',
    'webhooks/dispatcher/leases/leases.ts',
    'webhooks/dispatcher/reading/move-due-times.ts',
    'webhooks/dispatcher/outcomes/outcomes.ts',
    'webhooks/retention.ts',
    'webhooks/set-aside.ts',
  ],
  'SQL fragments that several stores share': [
    'engagements/sms/sms-of-message.ts',
    'engagements/taking-part.ts',
    'identity/moving.ts',
    'events/append.ts',
    'routing/statistics/facts.ts',
    'site-deletion/belongings.ts',
  ],
  'a lock, a key or a link, with its one or two statements': [
    'events/subscriptions/destination.ts',
    'events/event-secrets.ts',
    'events/earlier-writers.ts',
    'events/log-point.ts',
    'identity/accounts.ts',
    'identity/lock-account.ts',
    'identity/sealer.ts',
    'identity/sign-in/lock-sign-in.ts',
    'identity/sign-in/links.ts',
    'identity/signing-keys.ts',
    'channels/apns/provider-token.ts',
  ],
  'background work that batches in memory what its one statement writes or reads': [
    'events/subscriptions/attach-webhooks.ts',
    'events/hints.ts',
    'webhooks/coverage.ts',
    'webhooks/dispatcher/outcomes/answer-timeouts.ts',
    'webhooks/dispatcher/reading/webhook-cache.ts',
  ],
  'a command that a person runs': [
    'cli/commands/accounts.ts',
    'cli/commands/doctor.ts',
    'cli/commands/keys.ts',
    'cli/commands/sign-in-link.ts',
    'storage.ts',
  ],
  'sample data, which reads and removes rows of every room': [
    'sample/host.ts',
    'sample/read-world.ts',
    'sample/remove.ts',
    'sample/remove-events.ts',
    'sample/set-up.ts',
  ],
};

const files = sourcesIn(source);
const imports = new Map(files.map((file) => [file, importsOf(source, file)]));

function sourcesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file));
}

function importsOf(folder: string, file: string): string[] {
  const text = readFileSync(join(folder, file), 'utf8');
  const found = text.matchAll(/(?:^|\n)(?:import|export)\s[^;]*?from\s+'(\.[^']+)'/g);
  return [...found].map(([, path = '']) => relative(folder, resolve(dirname(join(folder, file)), path)));
}

function roomOf(file: string): string {
  return /^config(?:-\w+)?\.ts$/.test(file) ? 'config' : (file.split(sep)[0] ?? file);
}

/** The layer of a file of `platform/`, as its index in `layers`; -1 if its folder is not listed. */
function layerOf(file: string): number {
  const [, folder = '', inside] = file.split(sep);
  return layers.indexOf(inside !== undefined || folder === 'room.ts' ? folder : 'basics');
}

const problems: string[] = [];

for (const [file, targets] of imports) {
  const room = roomOf(file);
  const isExempt = wiring.has(file) || room === 'cli' || file.endsWith('.test.ts');
  for (const target of targets) {
    const other = roomOf(target);
    if (!isExempt && room !== other && !(rooms[room] ?? []).includes(other))
      problems.push(`${file} imports ${target}: ${room} must not import ${other}`);
    if (room === 'platform' && other === 'platform' && layerOf(target) > layerOf(file))
      problems.push(`${file} imports ${target}: it is in a later folder of platform/`);
    const registersRoutes = ['room.ts', 'routes.ts'].includes(basename(file)) && room === other;
    if (/\broutes?\.ts$/.test(target) && !registersRoutes)
      problems.push(`${file} imports ${target}: only room.ts or routes.ts of the same room may import routes`);
  }
}

for (const [name, allowed] of Object.entries(packages)) {
  const folder = resolve('packages', name, 'src');
  for (const file of sourcesIn(folder)) {
    const text = readFileSync(join(folder, file), 'utf8');
    for (const [, other = ''] of text.matchAll(/from\s+'@usher\/(\w+)/g))
      if (other !== name && !allowed.includes(other) && !file.endsWith('.test.ts'))
        problems.push(`packages/${name}/src/${file} imports @usher/${other}, which is not listed for ${name}`);
  }
}

const statement = /\w(?:<[^`]{0,200}>)?`\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH|MERGE)\b/;
const mayHaveStatements = new Set(Object.values(withStatements).flat());
for (const file of files) {
  if (/(?:^|[/-])store\.ts$|\/storage\/|\.test\.ts$/.test(file) || roomOf(file) === 'platform') continue;
  const hasSql = statement.test(readFileSync(join(source, file), 'utf8'));
  if (hasSql && !mayHaveStatements.has(file))
    problems.push(
      `${file} contains SQL: move it to store.ts, or list the file with a reason in scripts/checks/check-imports.ts`,
    );
  if (!hasSql && mayHaveStatements.has(file))
    problems.push(`${file} contains no SQL: remove it from the list in scripts/checks/check-imports.ts`);
}
for (const file of mayHaveStatements)
  if (!imports.has(file))
    problems.push(`${file} does not exist: remove it from the list in scripts/checks/check-imports.ts`);

for (const name of Object.keys(packages)) findCycles(resolve('packages', name, 'src'));

function findCycles(folder: string): void {
  const targets = new Map(sourcesIn(folder).map((file) => [file, importsOf(folder, file)]));
  const finished = new Set<string>();
  const follow = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) {
      problems.push(`import cycle: ${[...path.slice(path.indexOf(file)), file].join(' → ')}`);
      return;
    }
    if (finished.has(file)) return;
    for (const target of targets.get(file) ?? []) follow(target, [...path, file]);
    finished.add(file);
  };
  for (const file of targets.keys()) follow(file, []);
}

const filesOf = new Map<string, number>();
for (const root of ['packages', 'test', 'bench', 'scripts'])
  for (const file of sourcesIn(root)) {
    if (/(?:^|\/)(?:node_modules|dist)\//.test(file)) continue;
    const folder = dirname(join(root, file));
    filesOf.set(folder, (filesOf.get(folder) ?? 0) + 1);
  }
for (const [folder, count] of filesOf)
  if (count > mostFiles) problems.push(`${folder} has ${count} source files, more than ${mostFiles}: give it folders`);

for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
