import { StartError } from '../platform/errors.ts';

const signals = ['SIGINT', 'SIGTERM'] as const;

/** Runs a command that must clean up when it is interrupted. A terminal and the script that started the command both signal it. */
export async function interruptible<T>(outcome: string, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const stop = (): void => controller.abort(new StartError(`Interrupted. ${outcome}`));
  for (const signal of signals) process.on(signal, stop);
  try {
    return await run(controller.signal);
  } finally {
    for (const signal of signals) process.removeListener(signal, stop);
  }
}
