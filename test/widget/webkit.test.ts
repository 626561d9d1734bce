import { after, before, describe } from 'node:test';
import { startTestServer, type TestServer } from '../support/server.ts';
import { findWebkit, openWebkit } from '../support/browser/webkit.ts';
import type { RemoteBrowser } from '../support/browser/remote-browser.ts';
import { testWidget } from '../support/browser/widget-suite.ts';

/** In CI a missing browser fails the run earlier: see scripts/install-test-tools.ts. */
const skip = findWebkit() === null ? 'WebKit is not installed' : false;

describe('the widget in WebKit', { skip }, () => {
  let server: TestServer;
  let browser: RemoteBrowser;
  before(async () => {
    server = await startTestServer();
    browser = await openWebkit();
  });
  after(async () => {
    await browser[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  testWidget(() => ({ server, browser }));
});
