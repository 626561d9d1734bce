import { after } from 'node:test';
import { startTestServer, type TestServer } from './server.ts';
import { makeAccount, type TestAccount } from './world.ts';

/** What tests open has one of these ways to end. */
type Closable =
  { [Symbol.asyncDispose](): Promise<void> } | { close(): void | Promise<void> } | { stop(): void | Promise<void> };

const closing = new AsyncDisposableStack();
let isRegistered = false;

/**
 * What all tests of a file share: `const browser = await forThisFile(openBrowser())`. It is closed after the last of them, and what
 * was opened later is closed earlier.
 */
export async function forThisFile<T extends Closable>(opening: T | Promise<T>): Promise<T> {
  const opened = await opening;
  closing.defer(async () => {
    if (Symbol.asyncDispose in opened) await opened[Symbol.asyncDispose]();
    else if ('close' in opened) await opened.close();
    else await opened.stop();
  });
  if (!isRegistered) after(async () => closing.disposeAsync());
  isRegistered = true;
  return opened;
}

export interface TestWorld {
  readonly server: TestServer;
  readonly account: TestAccount;
}

/** A server for the tests of a file, and an account on it: what most of them need. */
export async function openWorld(...settings: Parameters<typeof startTestServer>): Promise<TestWorld> {
  const server = await forThisFile(startTestServer(...settings));
  return { server, account: await makeAccount(server) };
}
