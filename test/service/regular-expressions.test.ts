import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { analyse } from 'scslre';
import { parseSync } from 'vite';
import { safeName } from '../../packages/server/src/engagements/files/file-name.ts';
import type { Json } from '../support/server.ts';

/**
 * A regular expression that takes more than linear time lets one caller block the whole process. A length limit does not help:
 * Ajv reports all errors of a body, so it matches a pattern even after `maxLength` failed, and a body may have 1 MiB.
 */
interface FoundExpression {
  readonly where: string;
  readonly source: string;
  readonly flags: string;
}

/** Expressions built at run time. Each was checked by hand, or is built from patterns in openapi.json. */
const builtAtRunTime = [
  // This pattern is also in openapi.json.
  'packages/console/src/pages/sites/draft.ts',
  // Digits with bounds, between dashes.
  'packages/server/src/feed/position.ts',
  // The paths of routes: `[^/]+` between slashes, so every character has one way to match.
  'packages/server/src/platform/http/create-app.ts',
  // These two patterns are also in openapi.json.
  'packages/server/src/schedules/business-hours.ts',
];

const sources = readdirSync('packages', { recursive: true, encoding: 'utf8' })
  .filter((file) => /^\w+\/src\/.*\.tsx?$/.test(file) && !file.endsWith('.test.ts'))
  .map((file) => `packages/${file}`);

/** Calls `visit` for every object of a syntax tree or a document. */
function walk(node: Json, visit: (node: Json) => void): void {
  if (typeof node !== 'object' || node === null) return;
  visit(node);
  for (const child of Object.values(node)) walk(child, visit);
}

function inSources(): { readonly literals: FoundExpression[]; readonly builders: string[] } {
  const literals: FoundExpression[] = [];
  const builders = new Set<string>();
  for (const file of sources) {
    const text = readFileSync(file, 'utf8');
    const { program, errors } = parseSync(file, text);
    assert.deepEqual(errors, [], file);
    walk(program, (node) => {
      if (node.type === 'Literal' && node.regex !== undefined) {
        const line = text.slice(0, node.start).split('\n').length;
        literals.push({ where: `${file}:${line}`, source: node.regex.pattern, flags: node.regex.flags });
      }
      if (['NewExpression', 'CallExpression'].includes(node.type) && node.callee.name === 'RegExp') builders.add(file);
    });
  }
  return { literals, builders: [...builders].toSorted() };
}

/** Ajv compiles patterns with the flag `u`. */
function inSchemas(): FoundExpression[] {
  const found: FoundExpression[] = [];
  walk(JSON.parse(readFileSync('openapi.json', 'utf8')), ({ pattern }) => {
    if (typeof pattern === 'string') found.push({ where: 'openapi.json', source: pattern, flags: 'u' });
  });
  return found;
}

/** Reports expressions with more than one way to match, or to begin to match, the same characters. */
function faultsOf({ where, source, flags }: FoundExpression): string[] {
  return analyse({ source, flags }).reports.map(
    ({ type, exponential }) =>
      `${where}: /${source}/${flags} takes ${exponential ? 'exponential' : 'quadratic'} time (${type})`,
  );
}

test('every regular expression of the source and of the schemas takes linear time', () => {
  const { literals, builders } = inSources();
  const all = [...literals, ...inSchemas()];
  assert.ok(all.length > 150, `only ${all.length} were found`);
  assert.deepEqual(builders, builtAtRunTime, 'check a new RegExp(…) by hand and add its file above');
  assert.deepEqual(all.flatMap(faultsOf), []);
});

test('the check finds expressions that take quadratic and exponential time', () => {
  const faults = ['[\\s.]+$', '^(?:a+)+$', '^\\s*\\S*\\s*:\\s*:'].map(
    (source) => faultsOf({ where: '', source, flags: '' }).length,
  );
  assert.ok(
    faults.every((count) => count > 0),
    String(faults),
  );
});

test('a long name is sanitised in linear time', () => {
  const dots = '.'.repeat(30_000);
  const begun = process.cpuUsage();
  assert.equal(safeName(`a.txt${dots}`), 'a.txt');
  assert.equal(safeName(`a${dots}b`), `a${'.'.repeat(252)}.b`);
  assert.equal(safeName(`a${dots}${'b'.repeat(300)}`), 'a');
  // In quadratic time the last two take more than a second each; in linear time all of them take a few milliseconds.
  assert.ok(process.cpuUsage(begun).user < 500_000);
});
