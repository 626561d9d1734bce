import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';

/**
 * Imports between the rooms of the server point one way. A room may use what stands before it in its row; nothing may
 * import in a circle, not even inside a room; and nothing imports the files that wire everything together.
 */
const rooms: Readonly<Record<string, readonly string[]>> = {
  config: [],
  platform: ['config'],
  identity: ['platform', 'config'],
  events: ['identity', 'platform', 'config'],
  schedules: ['events', 'identity', 'platform', 'config'],
  queues: ['schedules', 'events', 'identity', 'platform', 'config'],
  routing: ['queues', 'schedules', 'events', 'identity', 'platform', 'config'],
  engagements: ['routing', 'queues', 'schedules', 'events', 'identity', 'platform', 'config'],
  feed: ['engagements', 'routing', 'queues', 'schedules', 'events', 'identity', 'platform', 'config'],
  webhooks: ['events', 'identity', 'platform', 'config'],
  'site-deletion': ['engagements', 'routing', 'queues', 'schedules', 'events', 'identity', 'platform', 'config'],
  sample: [
    'site-deletion',
    'feed',
    'webhooks',
    'engagements',
    'routing',
    'queues',
    'schedules',
    'events',
    'identity',
    'platform',
    'config',
  ],
};

const source = resolve('packages/server/src');
const wiring = new Set(['main.ts', 'app.ts', 'limit-callers.ts', 'outgoing.ts', 'storage.ts', 'housekeeping.ts']);

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

/** Types alone make no circle at run time, so `import type` is left out here. */
function runtimeImportsOf(file: string): string[] {
  const text = readFileSync(join(source, file), 'utf8');
  const found = text.matchAll(/(?:^|\n)(?:import|export)\s(?!type\s)[^;]*?from\s+'(\.[^']+)'/g);
  return [...found].map(([, path = '']) => relative(source, resolve(dirname(join(source, file)), path)));
}

const complaints: string[] = [];

for (const [file, targets] of imports) {
  const room = roomOf(file);
  for (const target of targets) {
    const other = roomOf(target);
    if (wiring.has(file) || room === 'cli' || room === other || file.endsWith('.test.ts')) continue;
    if (!(rooms[room] ?? []).includes(other))
      complaints.push(`${file} imports ${target}: ${room} may not use ${other}`);
  }
}

const finished = new Set<string>();
function follow(file: string, path: readonly string[]): void {
  if (path.includes(file)) {
    complaints.push(`circle: ${[...path.slice(path.indexOf(file)), file].join(' → ')}`);
    return;
  }
  if (finished.has(file)) return;
  for (const target of runtimeImportsOf(file)) follow(target, [...path, file]);
  finished.add(file);
}
for (const file of files) follow(file, []);

for (const complaint of complaints) console.error(complaint);
process.exitCode = complaints.length === 0 ? 0 : 1;
