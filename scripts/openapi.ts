import { writeFileSync } from 'node:fs';
import { examplesFile, readExamples, type Example } from '../packages/server/src/platform/reference/api-examples.ts';
import { globalSetup, globalTeardown } from '../test/setup.ts';
import { ExampleText, haveSameFields, recordExamples } from '../test/support/api/api-examples.ts';
import { startTestServer } from '../test/support/server.ts';
import { writeApiTypes } from './api-types.ts';
import { writeSdk } from './sdk.ts';

/**
 * Rewrites what describes the API, from the routes of a running server: the examples (each is kept while its fields are the same, so that
 * only what has changed is rewritten), then openapi.json and asyncapi.json, then the
 * generated files of the SDK.
 */
await globalSetup();
try {
  const { paths } = JSON.parse(await documentOf('openapi.json')) as { paths: Record<string, object> };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  writeExamples(await recordExamples(new Set(operations)));
  for (const name of ['openapi.json', 'asyncapi.json']) writeFileSync(name, await documentOf(name));
  writeApiTypes();
  writeSdk();
} finally {
  await globalTeardown();
}

/** From a new server, because a server renders its documents once. */
async function documentOf(name: string): Promise<string> {
  await using server = await startTestServer();
  const response = await fetch(`${server.url}/${name}`);
  return await response.text();
}

/** In the order of the file, so that a change of it shows what has changed. New operations come last. */
function writeExamples(recorded: ReadonlyMap<string, Example>): void {
  const before = readExamples();
  const text = new ExampleText();
  const examples = [...new Set([...Object.keys(before), ...recorded.keys()])].flatMap((operation) => {
    const example = recorded.get(operation);
    if (example === undefined) return [];
    const kept = before[operation];
    const isSame = kept !== undefined && kept.status === example.status && haveSameFields(kept, example);
    return [[operation, isSame ? kept : text.clean(example)] as const];
  });
  writeFileSync(examplesFile, `${JSON.stringify(Object.fromEntries(examples), null, 2)}\n`);
}
