import { flushCompileCache } from 'node:module';
import type { Config } from '../../config.ts';
import { startServer, type RunningServer } from '../../main.ts';
import { createLog, type Log } from '../../platform/log.ts';
import { releaseMemoryWhenIdle } from '../../platform/engine/release-memory.ts';
import { terminalOutput } from '../../platform/watching/terminal-log.ts';
import { command } from '../command.ts';
import { parentEnded } from '../parent-watch.ts';

export const serve = command({
  help: `usher serve

  Starts the server and runs it until it gets SIGINT, SIGTERM or SIGHUP. Settings are environment variables: see
  docs/guide/settings.md.
`,
  options: {},
  run: async (config) => serveUntilStopped(config),
});

/** Runs the server until a signal stops it or it fails. */
async function serveUntilStopped(config: Config): Promise<void> {
  const { log, lifecycle, isQuiet } = openLogs(config);
  const stopRequested = Promise.race([signal(), ...(config.isRunByNpx ? [npxEnded()] : [])]);
  const server = await startServer(config, log, lifecycle);
  log.info({ url: server.url, data: server.dataLocation, schema: server.schema }, 'started');
  // Standard output has only log lines, so that a collector can parse all of it.
  process.stderr.write(welcome(server, isQuiet));
  // Node stores what it compiled when it exits, which a killed process never does. What was compiled until now is what the next
  // start needs.
  flushCompileCache();
  releaseMemoryWhenIdle(log);
  const end = await Promise.race([stopRequested, server.failed.then(databaseExited), uncaughtError()]);
  const began = performance.now();
  if (typeof end === 'string') lifecycle.info({ reason: end }, 'stopping');
  else {
    log.fatal(end, 'Usher cannot continue and stops; restart it');
    process.exitCode = 1;
  }
  await server.stop();
  lifecycle.info({ ms: Math.round(performance.now() - began) }, 'stopped');
  await flushed(log);
}

interface Logs {
  readonly log: Log;
  /** What the process does as a whole: migrations and its end. */
  readonly lifecycle: Log;
  /** Whether requests are not shown because nobody asked for them. */
  readonly isQuiet: boolean;
}

/** People at a terminal see text, and unless they ask for more only what needs their attention. Programs get everything, as JSON. */
function openLogs({ logLevel }: Config): Logs {
  const isTerminal = process.stdout.isTTY;
  const isQuiet = isTerminal && logLevel === null;
  const level = logLevel ?? (isQuiet ? 'warn' : 'info');
  const log = isTerminal ? createLog(level, terminalOutput(process.stdout)) : createLog(level);
  return { log, lifecycle: log.child({}, { level: logLevel ?? 'info' }), isQuiet };
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

/**
 * Resolves with the name of the signal. A terminal sends Ctrl-C to every process of the group, so several signals may arrive, and SIGHUP
 * when it is closed.
 */
async function signal(): Promise<string> {
  return new Promise((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => resolve(name));
  });
}

async function npxEnded(): Promise<string> {
  await parentEnded();
  return 'npx has ended';
}

async function flushed(log: Log): Promise<void> {
  return new Promise((resolve) => log.flush(() => resolve()));
}

function welcome({ url, dataLocation, firstKey, consoleLink }: RunningServer, isQuiet: boolean): string {
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
    ...(isQuiet ? ['  Log      only warnings and errors; USHER_LOG=info also shows requests'] : []),
    ...key,
    '',
    '  Try it:',
    ...example,
    '',
    '',
  ].join('\n');
}
