import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findProgram } from '../../test/support/processes/programs.ts';
import { end, hasEnded, temporaryFolder } from './processes.ts';

const program = 'redis-server';
const startTimeoutMs = 10_000;
const pollMs = 10;

export function hasRedis(): boolean {
  return findProgram(program) !== null;
}

export interface Redis {
  readonly socket: string;
  stop(): Promise<void>;
}

/** Starts an empty Redis. It persists as job queues recommend: with an append-only file that is synced every second. */
export async function startRedis(scope: AsyncDisposableStack): Promise<Redis> {
  const folder = temporaryFolder(scope);
  const socket = join(folder, 'redis.sock');
  const settings = {
    port: '0',
    unixsocket: socket,
    dir: folder,
    appendonly: 'yes',
    appendfsync: 'everysec',
    save: '',
    'maxmemory-policy': 'noeviction',
  };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  scope.defer(async () => end(child));
  const deadline = performance.now() + startTimeoutMs;
  while (!existsSync(socket)) {
    if (hasEnded(child) || performance.now() > deadline) throw new Error('Redis did not start');
    await sleep(pollMs);
  }
  return { socket, stop: async () => end(child) };
}
