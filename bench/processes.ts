import { spawn, type ChildProcess, type Serializable, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
/** A server gets this long to finish what it has; Usher itself needs 10 s at most. */
const endPatienceMs = 15_000;
const askPatienceMs = 60_000;

interface Program {
  /** Arguments to Node: the file and what follows it. */
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly stdio: StdioOptions;
}

/** A Node program in a process of its own, which ends with the scope at the latest. */
export function start(scope: AsyncDisposableStack, { args, env = {}, stdio }: Program): ChildProcess {
  // After a Ctrl-C the measure under way goes on for a moment: nothing that it starts then would be ended.
  if (scope.disposed) throw new Error('the run is over');
  const names = ['PATH', 'TMPDIR', 'NODE_COMPILE_CACHE'];
  const inherited = Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
  const child = spawn(process.execPath, args, { cwd: root, env: { ...inherited, ...env }, stdio });
  scope.defer(async () => end(child));
  return child;
}

export function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** Asks it to end, and makes it where it does not. Does nothing where it has ended. */
export async function end(child: ChildProcess): Promise<void> {
  if (hasEnded(child) || child.pid === undefined) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const force = setTimeout(() => child.kill('SIGKILL'), endPatienceMs);
  await ended;
  clearTimeout(force);
}

/** One of the peers beside this file; it is asked over its channel and ends when that closes. */
export function startPeer(scope: AsyncDisposableStack, file: URL): ChildProcess {
  return start(scope, { args: [fileURLToPath(file)], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
}

export async function ask<Answer>(peer: ChildProcess, question: Serializable): Promise<Answer> {
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, AbortSignal.timeout(askPatienceMs)]);
  const failed = async (): Promise<never> => {
    await once(peer, 'exit', { signal });
    throw new Error(`${peer.spawnargs.at(-1) ?? 'the peer'} ended before it answered`);
  };
  try {
    const answered = once(peer, 'message', { signal });
    peer.send(question);
    const [answer] = (await Promise.race([answered, failed()])) as [Answer];
    return answer;
  } finally {
    over.abort();
  }
}

/** A folder that goes with the scope. Nothing may be running in it by then. */
export function temporaryFolder(scope: AsyncDisposableStack): string {
  const folder = mkdtempSync(join(tmpdir(), 'usher-bench-'));
  scope.defer(async () => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (typeof address !== 'object' || address === null) throw new Error('the probe has no port');
  return address.port;
}
