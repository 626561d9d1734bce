import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';

/**
 * Where things stand in the server. Of imports, types included:
 *
 * - a room uses the rooms before it, never those after it;
 * - nothing imports in a circle, not even inside a room;
 * - routes are imported to be opened, by the `room.ts` of their room or by the `routes.ts` that opens them with its own;
 * - nothing imports the files that wire everything together.
 *
 * Of SQL: statements stand in `store.ts` or `…-store.ts`, in `platform/`, and in the files that `withStatements` names.
 */
const chain = ['config', 'platform', 'identity', 'events', 'schedules', 'queues', 'routing', 'engagements', 'feed'];
const before = (room: string): readonly string[] => chain.slice(0, chain.indexOf(room));

const rooms: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(chain.map((room) => [room, before(room)])),
  'webhooks/channels': before('events'),
  events: [...before('events'), 'webhooks/channels'],
  webhooks: [...before('schedules'), 'webhooks/channels'],
  'site-deletion': before('feed'),
  sample: [...chain, 'webhooks', 'webhooks/channels', 'site-deletion'],
};

const source = resolve('packages/server/src');
const wiring = new Set(['main.ts', 'app.ts', 'edge.ts', 'storage.ts', 'housekeeping.ts']);

/** Why these have statements, though they are no stores. */
const withStatements: Readonly<Record<string, readonly string[]>> = {
  'the statement is the use case, and its comment the reason for each part of it': [
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
  'parts of statements that several stores share': [
    'engagements/sms/sms-of-message.ts',
    'engagements/taking-part.ts',
    'events/append.ts',
    'routing/statistics/facts.ts',
    'site-deletion/belongings.ts',
  ],
  'a lock, a key or a link: one small thing with the statement or two that it is about': [
    'events/destination.ts',
    'events/event-secrets.ts',
    'events/log-point.ts',
    'identity/accounts.ts',
    'identity/lock-account.ts',
    'identity/sealer.ts',
    'identity/sign-in/lock-sign-in.ts',
    'identity/sign-in/links.ts',
    'identity/signing-keys.ts',
    'webhooks/channels/apns/provider-token.ts',
  ],
  'background work that gathers in memory what its one statement writes, or reads': [
    'events/attach-webhooks.ts',
    'events/hints.ts',
    'webhooks/coverage.ts',
    'webhooks/dispatcher/answer-timeouts.ts',
    'webhooks/dispatcher/webhook-health.ts',
    'webhooks/dispatcher/webhook-cache.ts',
  ],
  'a program of its own, run by a person': ['cli/commands.ts', 'cli/sign-in-link.ts', 'storage.ts'],
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

/** The channels are a room below the events, which ask them what a webhook that a ticket brings along may say. */
function roomOf(file: string): string {
  if (file.startsWith(join('webhooks', 'channels') + sep)) return 'webhooks/channels';
  return /^config(?:-\w+)?\.ts$/.test(file) ? 'config' : (file.split(sep)[0] ?? file);
}

const complaints: string[] = [];

for (const [file, targets] of imports) {
  const room = roomOf(file);
  const isFree = wiring.has(file) || room === 'cli' || file.endsWith('.test.ts');
  for (const target of targets) {
    const other = roomOf(target);
    if (!isFree && room !== other && !(rooms[room] ?? []).includes(other))
      complaints.push(`${file} imports ${target}: ${room} may not use ${other}`);
    const opensRoutes = ['room.ts', 'routes.ts'].includes(basename(file)) && room === other;
    if (/\broutes?\.ts$/.test(target) && !opensRoutes)
      complaints.push(`${file} imports ${target}: routes are imported by room.ts, or by routes.ts of the same room`);
  }
}

const statement = /\w(?:<[^`]{0,200}>)?`\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH|MERGE)\b/;
const mayHaveStatements = new Set(Object.values(withStatements).flat());
for (const file of files) {
  if (/(?:^|[/-])store\.ts$|\.test\.ts$/.test(file) || roomOf(file) === 'platform') continue;
  const has = statement.test(readFileSync(join(source, file), 'utf8'));
  if (has && !mayHaveStatements.has(file))
    complaints.push(
      `${file} has SQL: move it to store.ts, or name the file in scripts/check-imports.ts with the reason`,
    );
  if (!has && mayHaveStatements.has(file))
    complaints.push(`${file} has no SQL: take it off the list in scripts/check-imports.ts`);
}
for (const file of mayHaveStatements)
  if (!imports.has(file)) complaints.push(`${file} does not exist: take it off the list in scripts/check-imports.ts`);

const finished = new Set<string>();
function follow(file: string, path: readonly string[]): void {
  if (path.includes(file)) {
    complaints.push(`circle: ${[...path.slice(path.indexOf(file)), file].join(' → ')}`);
    return;
  }
  if (finished.has(file)) return;
  for (const target of imports.get(file) ?? []) follow(target, [...path, file]);
  finished.add(file);
}
for (const file of files) follow(file, []);

for (const complaint of complaints) console.error(complaint);
process.exitCode = complaints.length === 0 ? 0 : 1;
