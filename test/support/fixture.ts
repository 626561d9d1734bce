import { after } from 'node:test';
import { startTestServer, type TestServer } from './server.ts';
import { makeAccount, type TestAccount } from './world.ts';

/** Something that tests open, with one of these ways to close it. */
type Closable =
  { [Symbol.asyncDispose](): Promise<void> } | { close(): void | Promise<void> } | { stop(): void | Promise<void> };

/**
 * For what all tests of a file share: `const browser = await forThisFile(openBrowser())`. Everything is closed after the last
 * test, in reverse order.
 */
export async function forThisFile<T extends Closable>(opening: T | Promise<T>): Promise<T> {
  const opened = await opening;
  closing.defer(async () => {
    if (Symbol.asyncDispose in opened) await opened[Symbol.asyncDispose]();
    else if ('close' in opened) await opened.close();
    else await opened.stop();
  });
  return opened;
}

/** What the tests of this file share. */
const closing = new AsyncDisposableStack();
after(async () => closing.disposeAsync());

export interface TestWorld {
  readonly server: TestServer;
  readonly account: TestAccount;
}

/** A server and an account for the tests of a file. */
export async function openWorld(...settings: Parameters<typeof startTestServer>): Promise<TestWorld> {
  const server = await forThisFile(startTestServer(...settings));
  return { server, account: await makeAccount(server) };
}
