import { spawn, type ChildProcess, type Serializable, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** How long a server gets to shut down; Usher needs at most 10 s. */
const endTimeoutMs = 15_000;
const askTimeoutMs = 60_000;

interface Program {
  /** Arguments to Node: the file and its arguments. */
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly stdio: StdioOptions;
}

/** Runs a Node program in a process that ends with the scope at the latest. */
export function start(scope: AsyncDisposableStack, { args, env = {}, stdio }: Program): ChildProcess {
  // After Ctrl-C the current measure continues for a moment, but the scope no longer ends what it starts.
  if (scope.disposed) throw new Error('the run has ended');
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

/** Sends SIGTERM, and SIGKILL after a timeout. Does nothing if the process has ended. */
export async function end(child: ChildProcess): Promise<void> {
  if (hasEnded(child) || child.pid === undefined) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const force = setTimeout(() => child.kill('SIGKILL'), endTimeoutMs);
  await ended;
  clearTimeout(force);
}

/** Starts a peer from a file of this folder. It is driven over its IPC channel and ends when the channel closes. */
export function startPeer(scope: AsyncDisposableStack, file: URL): ChildProcess {
  return start(scope, { args: [fileURLToPath(file)], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
}

export async function ask<Answer>(peer: ChildProcess, question: Serializable): Promise<Answer> {
  const done = new AbortController();
  const signal = AbortSignal.any([done.signal, AbortSignal.timeout(askTimeoutMs)]);
  const failed = async (): Promise<never> => {
    await once(peer, 'exit', { signal });
    throw new Error(`${peer.spawnargs.at(-1) ?? 'the peer'} exited before it answered`);
  };
  try {
    const answered = once(peer, 'message', { signal });
    peer.send(question);
    const [answer] = (await Promise.race([answered, failed()])) as [Answer];
    return answer;
  } finally {
    done.abort();
  }
}

/** A folder that is deleted with the scope. Processes that use it must have ended by then. */
export function temporaryFolder(scope: AsyncDisposableStack): string {
  const folder = mkdtempSync(join(tmpdir(), 'usher-bench-'));
  scope.defer(async () => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}
