import type { Config } from '../config.ts';
import { startServer, type RunningServer } from '../main.ts';
import { createLog, type Log } from '../platform/log.ts';

/** Serves until it is told to end, or cannot go on. */
export async function serve(config: Config): Promise<void> {
  const log = createLog(config.logLevel);
  const asked = signal();
  const server = await startServer(config, log);
  process.stdout.write(welcome(server));
  const failure = await Promise.race([asked.then(() => null), server.failed.then(databaseEnded), fault()]);
  if (failure !== null) {
    log.fatal(failure, 'Usher cannot go on; start it again');
    process.exitCode = 1;
  }
  await server.stop();
  await flushed(log);
}

function databaseEnded(reason: string): object {
  return { reason: `the embedded database ended and could not be started again: ${reason}` };
}

/** What nobody caught: a fault of ours, after which nothing is certain but that the database must be stopped. */
async function fault(): Promise<object> {
  return new Promise((resolve) => {
    process.once('uncaughtException', (error) => resolve({ err: error }));
  });
}

/** SIGINT and SIGTERM alike. A terminal sends Ctrl-C to every process of the group, so more than one may arrive. */
async function signal(): Promise<void> {
  return new Promise((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => resolve());
  });
}

async function flushed(log: Log): Promise<void> {
  return new Promise((resolve) => log.flush(() => resolve()));
}

function welcome({ url, place, firstKey, consoleLink }: RunningServer): string {
  const console =
    consoleLink === null ? [] : [`  Console  ${consoleLink}`, '           (signs you in once, within the hour)'];
  const key =
    firstKey === null
      ? []
      : ['', '  The first API key, shown this once:', `    id      ${firstKey.id}`, `    secret  ${firstKey.secret}`];
  const attempt =
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
    `  Data     ${place}`,
    ...key,
    '',
    '  Try it:',
    ...attempt,
    '',
    '',
  ].join('\n');
}
