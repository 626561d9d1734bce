import { after } from 'node:test';
import { startTestServer, type TestServer } from './server.ts';
import { makeAccount, type TestAccount } from './world.ts';

/** Something that tests open, with one of these ways to close it. */
type Closable =
  { [Symbol.asyncDispose](): Promise<void> } | { close(): void | Promise<void> } | { stop(): void | Promise<void> };

/** What the tests of the current file share. It is `null` before the file opens something, and after it was closed. */
let closing: AsyncDisposableStack | null = null;

/**
 * For what all tests of a file share: `const browser = await forThisFile(openBrowser())`. Everything is closed after the last
 * test, in reverse order.
 */
export async function forThisFile<T extends Closable>(opening: T | Promise<T>): Promise<T> {
  const opened = await opening;
  stackOfThisFile().defer(async () => {
    if (Symbol.asyncDispose in opened) await opened[Symbol.asyncDispose]();
    else if ('close' in opened) await opened.close();
    else await opened.stop();
  });
  return opened;
}

/** Several files may run one after the other in one process (scripts/test-groups.ts). Each closes its own stack after its tests. */
function stackOfThisFile(): AsyncDisposableStack {
  if (closing !== null) return closing;
  const stack = new AsyncDisposableStack();
  closing = stack;
  after(async () => {
    closing = null;
    await stack.disposeAsync();
  });
  return stack;
}

export interface TestWorld {
  readonly server: TestServer;
  readonly account: TestAccount;
}

/** A server and an account for the tests of a file. */
export async function openWorld(...settings: Parameters<typeof startTestServer>): Promise<TestWorld> {
  const server = await forThisFile(startTestServer(...settings));
  return { server, account: await makeAccount(server) };
}
