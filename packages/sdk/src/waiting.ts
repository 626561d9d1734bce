/** The result of the promise, or the reason of the signal if that comes first. The promise goes on: other callers may share it. */
export async function orAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
    stop = () => signal.removeEventListener('abort', abort);
  });
  return Promise.race([promise, aborted]).finally(stop);
}

/** Waits for the time. Throws the reason of the signal as soon as it is aborted. */
export async function pause(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const elapsed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, delayMs);
  });
  await orAborted(elapsed, signal).finally(() => clearTimeout(timer));
}
