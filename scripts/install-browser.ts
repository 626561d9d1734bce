import { spawnSync } from 'node:child_process';
import { findBrowser } from '../test/support/browser.ts';

/** The pages are tested in real Chromium: what the machine has, or Playwright's own, or Debian's. Done by `npm test`. */
const ways: readonly (readonly string[])[] = [
  [process.execPath, 'node_modules/playwright-core/cli.js', 'install', 'chromium-headless-shell'],
  ...(process.getuid?.() === 0
    ? [
        ['apt-get', 'update'],
        ['apt-get', 'install', '-y', '--no-install-recommends', 'chromium-headless-shell'],
        ['apt-get', 'install', '-y', '--no-install-recommends', 'chromium'],
      ]
    : []),
];
/** A way that leads nowhere must not hold everything up. */
const longestMs = 240_000;

if (findBrowser() === null) {
  console.log('Installing a browser for the tests; this takes a moment the first time.');
  for (const [command = '', ...args] of ways) {
    spawnSync(command, args, {
      stdio: ['ignore', 'ignore', 'inherit'],
      timeout: longestMs,
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
    if (findBrowser() !== null) break;
  }
}
if (findBrowser() === null) {
  console.error('No Chromium was found and none could be installed. Install one, or name it by CHROMIUM.');
  process.exitCode = 1;
}
