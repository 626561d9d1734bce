import { writeFileSync } from 'node:fs';
import { writeApiTypes } from './api-types.ts';
import { globalSetup, globalTeardown } from '../test/setup.ts';
import { call, startTestServer } from '../test/support/server.ts';

/** Rewrites openapi.json from the routes of a running server, then the client's types from openapi.json. */
await globalSetup();
try {
  const server = await startTestServer();
  const { body } = await call(server, 'GET /openapi.json');
  writeFileSync('openapi.json', `${JSON.stringify(body, null, 2)}\n`);
  await server[Symbol.asyncDispose]();
  writeApiTypes();
} finally {
  await globalTeardown();
}
