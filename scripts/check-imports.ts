import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';

/**
 * What the files of the server may import, types included:
 *
 * - a room uses the rooms before it, never those after it;
 * - nothing imports in a circle, not even inside a room;
 * - routes are imported to be opened, by the `room.ts` of their room or by the `routes.ts` that opens them with its own;
 * - nothing imports the files that wire everything together.
 */
const chain = ['config', 'platform', 'identity', 'events', 'schedules', 'queues', 'routing', 'engagements', 'feed'];
const before = (room: string): readonly string[] => chain.slice(0, chain.indexOf(room));

const rooms: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(chain.map((room) => [room, before(room)])),
  webhooks: before('schedules'),
  'site-deletion': before('feed'),
  sample: [...chain, 'webhooks', 'site-deletion'],
};

const source = resolve('packages/server/src');
const wiring = new Set(['main.ts', 'app.ts', 'edge.ts', 'storage.ts', 'housekeeping.ts']);

const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
const imports = new Map(files.map((file) => [file, importsOf(file)]));

function importsOf(file: string): string[] {
  const text = readFileSync(join(source, file), 'utf8');
  const found = text.matchAll(/(?:^|\n)(?:import|export)\s[^;]*?from\s+'(\.[^']+)'/g);
  return [...found].map(([, path = '']) => relative(source, resolve(dirname(join(source, file)), path)));
}

function roomOf(file: string): string {
  return file === 'config.ts' ? 'config' : (file.split(sep)[0] ?? file);
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
