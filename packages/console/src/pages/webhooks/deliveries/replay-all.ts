/** So many at a time. More would only wait for each other: the server takes one of a webhook after the other. */
const atOnce = 4;
/** A selection has no more. */
export const mostReplayed = 200;

export interface ReplayProgress {
  readonly total: number;
  readonly done: number;
  /** What was refused, and why. */
  readonly failures: readonly { readonly id: string; readonly error: unknown }[];
}

/** Replays each; one that is refused does not keep the others back. */
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
