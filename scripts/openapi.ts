import { writeFileSync } from 'node:fs';
import { writeApiTypes } from './api-types.ts';
import { globalSetup, globalTeardown } from '../test/setup.ts';
import { call, startTestServer } from '../test/support/server.ts';

/** Writes openapi.json anew from the routes of a running server, and from it the types of the client. */
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
