import { spawn } from 'node:child_process';
import { serverProgram } from '../../../scripts/built.mjs';
import { UsherProcess } from './process.ts';

/** Runs `usher <args>` to its end, with nothing of the own environment but the path. */
export async function runCommand(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<UsherProcess> {
  const child = spawn(process.execPath, [serverProgram(), ...args], {
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const usher = new UsherProcess(child, 0);
  await usher.ended();
  return usher;
}
