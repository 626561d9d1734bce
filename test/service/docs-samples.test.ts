import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { typescriptSample } from '../../packages/server/src/platform/reference/docs-samples.ts';
import type { ApiDocument } from '../../packages/server/src/platform/reference/openapi/model.ts';

test('the TypeScript sample of every operation compiles with the SDK', () => {
  const api = JSON.parse(readFileSync('openapi.json', 'utf8')) as ApiDocument;
  const samples = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      typescriptSample(method.toUpperCase(), path, operation, api.components.schemas),
    ),
  );
  assert.ok(samples.length > 100);
  // The reader's own variables: `never` fits every type, so only the sample itself is checked.
  const variables = new Set(samples.flatMap((sample) => variablesOf(sample)));
  const text = [
    `import { createUsher } from '${resolve('packages/sdk/src/index.ts')}';`,
    "const usher = createUsher({ url: 'https://usher.example.com' });",
    ...[...variables].map((name) => `declare const ${name}: never;`),
    ...samples.map((sample) => `export const _${crypto.randomUUID().replaceAll('-', '')} = async () => { ${sample} };`),
  ].join('\n');
  mkdirSync('node_modules/.cache', { recursive: true });
  const folder = mkdtempSync('node_modules/.cache/samples-');
  try {
    writeFileSync(join(folder, 'samples.ts'), text);
    const options = { noEmit: true, strict: true, skipLibCheck: true, allowImportingTsExtensions: true, types: [] };
    const compilerOptions = { ...options, module: 'esnext', moduleResolution: 'bundler', target: 'esnext' };
    const settings = { compilerOptions: { ...compilerOptions, lib: ['esnext', 'dom'] }, files: ['samples.ts'] };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings));
    const compile = ['node_modules/typescript/bin/tsc', '-p', folder];
    const { stdout } = spawnSync(process.execPath, compile, { encoding: 'utf8' });
    assert.equal(stdout, '');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** `{ queueId, body: {…} }` → `queueId` */
function variablesOf(sample: string): string[] {
  const [, list = ''] = /\(\{ ((?:\w+(?:, )?)*)/.exec(sample) ?? [];
  return list.split(', ').filter((name) => name !== '' && name !== 'body');
}
