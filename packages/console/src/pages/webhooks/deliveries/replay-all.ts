/** Concurrent requests. More would only wait, because the server handles one per webhook at a time. */
const concurrency = 4;
/** The maximum size of a selection. */
export const maxReplayed = 200;

export interface ReplayProgress {
  readonly total: number;
  readonly done: number;
  /** The refused deliveries with their errors. */
  readonly failures: readonly { readonly id: string; readonly error: unknown }[];
}

/** Replays each delivery; a refused one does not stop the others. */
export async function replayAll(
  ids: readonly string[],
  replay: (id: string) => Promise<unknown>,
  onProgress: (progress: ReplayProgress) => void,
): Promise<ReplayProgress> {
  const queue = ids.slice(0, maxReplayed);
  let progress: ReplayProgress = { total: queue.length, done: 0, failures: [] };
  const report = (failures: ReplayProgress['failures']): void => {
    progress = { ...progress, done: progress.done + 1, failures: [...progress.failures, ...failures] };
    onProgress(progress);
  };
  onProgress(progress);
  const runWorker = async (): Promise<void> => {
    for (let id = queue.shift(); id !== undefined; id = queue.shift()) {
      const one = id;
      await replay(one).then(
        () => report([]),
        (error: unknown) => report([{ id: one, error }]),
      );
    }
  };
  await Promise.all(Array.from({ length: concurrency }, runWorker));
  return progress;
}
