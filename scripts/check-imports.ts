import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';

/**
 * Checks the structure of the server. Rules for imports, including imports of types:
 *
 * - a room imports only rooms before it;
 * - there are no import cycles, not even inside a room;
 * - routes are imported only by the `room.ts` of their room, or by a `routes.ts` of that room that registers them with its own;
 * - no room imports the files that wire the server.
 *
 * Rule for SQL: statements are in `store.ts` or `…-store.ts`, in `platform/`, and in the files that `withStatements` lists.
 */
const chain = ['config', 'platform', 'identity', 'events', 'schedules', 'queues', 'routing', 'engagements', 'feed'];
const before = (room: string): readonly string[] => chain.slice(0, chain.indexOf(room));

const rooms: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(chain.map((room) => [room, before(room)])),
  'webhooks/channels': before('events'),
  events: [...before('events'), 'webhooks/channels'],
  webhooks: [...before('schedules'), 'webhooks/channels'],
  'site-deletion': before('feed'),
  'account-deletion': [...before('feed'), 'site-deletion'],
  backup: before('feed'),
  mcp: before('events'),
  sample: [...chain, 'webhooks', 'webhooks/channels', 'site-deletion'],
};

const source = resolve('packages/server/src');
const wiring = new Set(['main.ts', 'app.ts', 'edge.ts', 'storage.ts', 'housekeeping.ts']);

/** Files with statements that are not stores, by the reason. */
const withStatements: Readonly<Record<string, readonly string[]>> = {
  'the statement is the use case, and its comment explains each part of it': [
    'engagements/signals/send-signal.ts',
    'feed/log.ts',
    'identity/visitors/sweep.ts',
    'routing/load-board.ts',
    'routing/move-times.ts',
    'routing/write-turn.ts',
    'site-deletion/remove-remains.ts',
    'webhooks/deliveries/requeue.ts',
    'webhooks/deliveries/replay.ts',
    'webhooks/deliveries/walk.ts',
    'webhooks/dispatcher/leases.ts',
    'webhooks/dispatcher/move-due-times.ts',
    'webhooks/dispatcher/outcomes.ts',
    'webhooks/retention.ts',
    'webhooks/set-aside.ts',
  ],
  'SQL fragments that several stores share': [
    'engagements/sms/sms-of-message.ts',
    'engagements/taking-part.ts',
    'events/append.ts',
    'routing/statistics/facts.ts',
    'site-deletion/belongings.ts',
  ],
  'a lock, a key or a link, with its one or two statements': [
    'events/destination.ts',
    'events/event-secrets.ts',
    'events/earlier-writers.ts',
    'events/log-point.ts',
    'identity/accounts.ts',
    'identity/lock-account.ts',
    'identity/sealer.ts',
    'identity/sign-in/lock-sign-in.ts',
    'identity/sign-in/links.ts',
    'identity/signing-keys.ts',
    'webhooks/channels/apns/provider-token.ts',
  ],
  'background work that batches in memory what its one statement writes or reads': [
    'events/attach-webhooks.ts',
    'events/hints.ts',
    'webhooks/coverage.ts',
    'webhooks/dispatcher/answer-timeouts.ts',
    'webhooks/dispatcher/webhook-cache.ts',
  ],
  'a command that a person runs': [
    'cli/accounts.ts',
    'cli/doctor.ts',
    'cli/keys.ts',
    'cli/sign-in-link.ts',
    'storage.ts',
  ],
  'sample data, which reads and removes rows of every room': [
    'sample/host.ts',
    'sample/read-world.ts',
    'sample/remove.ts',
    'sample/set-up.ts',
  ],
};

const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
const imports = new Map(files.map((file) => [file, importsOf(file)]));

function importsOf(file: string): string[] {
  const text = readFileSync(join(source, file), 'utf8');
  const found = text.matchAll(/(?:^|\n)(?:import|export)\s[^;]*?from\s+'(\.[^']+)'/g);
  return [...found].map(([, path = '']) => relative(source, resolve(dirname(join(source, file)), path)));
}

/** Webhook channels are a room below events, because events lets them validate the webhooks attached to tickets. */
function roomOf(file: string): string {
  if (file.startsWith(join('webhooks', 'channels') + sep)) return 'webhooks/channels';
  return /^config(?:-\w+)?\.ts$/.test(file) ? 'config' : (file.split(sep)[0] ?? file);
}

const problems: string[] = [];

for (const [file, targets] of imports) {
  const room = roomOf(file);
  const isExempt = wiring.has(file) || room === 'cli' || file.endsWith('.test.ts');
  for (const target of targets) {
    const other = roomOf(target);
    if (!isExempt && room !== other && !(rooms[room] ?? []).includes(other))
      problems.push(`${file} imports ${target}: ${room} must not import ${other}`);
    const registersRoutes = ['room.ts', 'routes.ts'].includes(basename(file)) && room === other;
    if (/\broutes?\.ts$/.test(target) && !registersRoutes)
      problems.push(`${file} imports ${target}: only room.ts or routes.ts of the same room may import routes`);
  }
}

const statement = /\w(?:<[^`]{0,200}>)?`\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH|MERGE)\b/;
const mayHaveStatements = new Set(Object.values(withStatements).flat());
for (const file of files) {
  if (/(?:^|[/-])store\.ts$|\.test\.ts$/.test(file) || roomOf(file) === 'platform') continue;
  const hasSql = statement.test(readFileSync(join(source, file), 'utf8'));
  if (hasSql && !mayHaveStatements.has(file))
    problems.push(
      `${file} contains SQL: move it to store.ts, or list the file with a reason in scripts/check-imports.ts`,
    );
  if (!hasSql && mayHaveStatements.has(file))
    problems.push(`${file} contains no SQL: remove it from the list in scripts/check-imports.ts`);
}
for (const file of mayHaveStatements)
  if (!imports.has(file)) problems.push(`${file} does not exist: remove it from the list in scripts/check-imports.ts`);

const finished = new Set<string>();
function follow(file: string, path: readonly string[]): void {
  if (path.includes(file)) {
    problems.push(`import cycle: ${[...path.slice(path.indexOf(file)), file].join(' → ')}`);
    return;
  }
  if (finished.has(file)) return;
  for (const target of imports.get(file) ?? []) follow(target, [...path, file]);
  finished.add(file);
}
for (const file of files) follow(file, []);

for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
