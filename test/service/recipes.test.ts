import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { format } from 'prettier';
import { readConfig } from '../../packages/server/src/config.ts';
import { settings } from '../../packages/server/src/config-settings.ts';
import { version } from '../../packages/server/src/platform/version.ts';

const api = JSON.parse(readFileSync('openapi.json', 'utf8')) as { paths: Record<string, unknown> };
const files = [
  'ops/compose.yaml',
  ...['haproxy/*', 'kubernetes/*', 'nginx/*', 'patroni/*', 'systemd/*'].flatMap((pattern) =>
    globSync(`ops/${pattern}`),
  ),
].map((file) => ({ file, text: readFileSync(file, 'utf8') }));
const textOf = (file: string): string => files.find((each) => each.file === file)?.text ?? '';
const kubernetes = textOf('ops/kubernetes/usher.yaml');
const compose = textOf('ops/compose.yaml');

test('every setting that a recipe names exists', () => {
  const known = new Set<string>(settings.map(({ name }) => name));
  for (const { file, text } of files) {
    const named = [...text.matchAll(/\bUSHER_[A-Z_]*[A-Z]\b/g)].map(([name]) => name);
    for (const name of named) assert.ok(known.has(name), `${file}: ${name}`);
  }
  assert.ok(compose.includes('USHER_SCANNER'));
});

test('the values of the settings in the recipes are valid', () => {
  const inKubernetes = [...kubernetes.matchAll(/\{ name: ([A-Z_]+), value: '?([^' }]*)'? \}/g)];
  const [, block = ''] = /\n {2}environment:\n((?: {4}.*\n)+)/.exec(compose) ?? [];
  const inCompose = [...block.matchAll(/^ {4}([A-Z_]+): '?([^'\n]*)'?$/gm)];
  const replaced: Readonly<Record<string, string>> = {
    POSTGRES_PASSWORD: 'secret',
    PUBLIC_HOST: 'usher.example.com',
    TURN_SECRET: 'at-least-16-characters',
  };
  for (const found of [inKubernetes, inCompose]) {
    assert.ok(found.length >= 5);
    const environment = found.map(([, name = '', value = '']) => [
      name,
      value.replaceAll(/\$\{([A-Z_]+):\?\}/g, (_, variable: string) => replaced[variable] ?? ''),
    ]);
    const config = readConfig(Object.fromEntries(environment) as Record<string, string>);
    assert.equal(config.migrate, 'off');
    assert.equal(config.trustProxy, 1);
    assert.equal(config.host, '0.0.0.0');
    assert.equal(config.dataDir, '/data');
  }
});

test('the probes and health checks of the recipes ask for paths that exist', () => {
  const asked = files.flatMap(({ file, text }) =>
    [...text.matchAll(/httpGet: \{ path: ([^,]+),|httpchk GET (\S+)/g)].map(([, probe, check]) => ({
      file,
      path: probe ?? check ?? '',
    })),
  );
  assert.deepEqual(new Set(asked.map(({ path }) => path)), new Set(['/healthz', '/readyz']));
  for (const { file, path } of asked) assert.ok(Object.hasOwn(api.paths, path), `${file}: ${path}`);
});

test('the YAML files are well-formed and name the image of this version', async () => {
  for (const text of [kubernetes, compose]) {
    assert.equal(await format(text, { parser: 'yaml', printWidth: 120, singleQuote: true }), text);
    const images = [...text.matchAll(/image: (usher:\S+)/g)].map(([, image]) => image);
    assert.equal(images.length, 2);
    for (const image of images) assert.equal(image, `usher:${version}`);
  }
});
