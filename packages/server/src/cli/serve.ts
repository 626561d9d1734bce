import { flushCompileCache } from 'node:module';
import type { Config } from '../config.ts';
import { startServer, type RunningServer } from '../main.ts';
import { createLog, type Log } from '../platform/log.ts';
import { releaseMemoryWhenIdle } from '../platform/release-memory.ts';
import { command } from './command.ts';

export const serve = command({
  help: `usher serve

  Starts the server and runs it until it gets SIGINT or SIGTERM. Settings are environment variables: see
  docs/guide/settings.md.
`,
  options: {},
  run: async (config) => serveUntilStopped(config),
});

/** Runs the server until a signal stops it or it fails. */
async function serveUntilStopped(config: Config): Promise<void> {
  const log = createLog(config.logLevel);
  const stopRequested = signal();
  const server = await startServer(config, log);
  // Standard output has only log lines, so that a collector can parse all of it.
  process.stderr.write(welcome(server));
  // Node stores what it compiled when it exits, which a killed process never does. What was compiled until now is what the next
  // start needs.
  flushCompileCache();
  releaseMemoryWhenIdle(log);
  const failure = await Promise.race([
    stopRequested.then(() => null),
    server.failed.then(databaseExited),
    uncaughtError(),
  ]);
  if (failure !== null) {
    log.fatal(failure, 'Usher cannot continue and stops; restart it');
    process.exitCode = 1;
  }
  await server.stop();
  await flushed(log);
}

function databaseExited(reason: string): object {
  return { reason: `the embedded database exited and could not be restarted: ${reason}` };
}

/** An uncaught error is a bug of Usher. The state of the process is unknown afterwards, so the only safe step is to stop. */
async function uncaughtError(): Promise<object> {
  return new Promise((resolve) => {
    process.once('uncaughtException', (error) => resolve({ err: error }));
  });
}

/** Resolves at SIGINT or SIGTERM. A terminal sends Ctrl-C to every process of the group, so several signals may arrive. */
async function signal(): Promise<void> {
  return new Promise((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => resolve());
  });
}

async function flushed(log: Log): Promise<void> {
  return new Promise((resolve) => log.flush(() => resolve()));
}

function welcome({ url, dataLocation, firstKey, consoleLink }: RunningServer): string {
  const console =
    consoleLink === null
      ? []
      : [`  Console  ${consoleLink}`, '           (single-use sign-in link, expires in one hour)'];
  const key =
    firstKey === null
      ? []
      : ['', '  Your first API key (shown only once):', `    id      ${firstKey.id}`, `    secret  ${firstKey.secret}`];
  const example =
    firstKey === null
      ? [`    curl ${url}/readyz`]
      : [
          `    curl ${url}/operator_authentication/tokens \\`,
          "      -H 'content-type: application/json' \\",
          `      -d '${JSON.stringify({ api_key_id: firstKey.id, api_key_secret: firstKey.secret })}'`,
        ];
  return [
    '',
    '  Usher is ready.',
    '',
    ...console,
    `  API      ${url}`,
    `  Docs     ${url}/docs`,
    `  Data     ${dataLocation}`,
    ...key,
    '',
    '  Try it:',
    ...example,
    '',
    '',
  ].join('\n');
}
