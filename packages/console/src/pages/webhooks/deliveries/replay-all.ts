/** Concurrent requests. More would only wait, because the server handles one per webhook at a time. */
const atOnce = 4;
/** The maximum size of a selection. */
export const mostReplayed = 200;

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
  const waiting = ids.slice(0, mostReplayed);
  let progress: ReplayProgress = { total: waiting.length, done: 0, failures: [] };
  const note = (failures: ReplayProgress['failures']): void => {
    progress = { ...progress, done: progress.done + 1, failures: [...progress.failures, ...failures] };
    onProgress(progress);
  };
  onProgress(progress);
  const work = async (): Promise<void> => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      const one = id;
      await replay(one).then(
        () => note([]),
        (error: unknown) => note([{ id: one, error }]),
      );
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return progress;
}
