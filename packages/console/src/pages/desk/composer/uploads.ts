import type { Api } from '@usher/client/api';
import { TaskLimit } from '@usher/client/task-limit';
import { maxConcurrentUploads } from '@usher/contract/limits';
import { describeError } from '../../../components/describe-error.ts';
import { newId } from '@usher/sdk/new-id';

/** A file that is being uploaded. */
export interface Upload {
  readonly key: string;
  readonly name: string;
  /** From 0 to 1. */
  readonly share: number;
  readonly problem: string | null;
}

type ByEngagement = ReadonlyMap<string, readonly Upload[]>;

/** Half of what the server accepts for each engagement. */
const maxParallel = maxConcurrentUploads / 2;

/** The uploads of all conversations: they continue when another conversation is opened. */
export class Uploads {
  readonly #api: Api;
  readonly #onUploaded: (engagementId: string) => Promise<void>;
  readonly #listeners = new Set<() => void>();
  readonly #limit = new TaskLimit(maxParallel);
  #state: ByEngagement = new Map();

  constructor(api: Api, onUploaded: (engagementId: string) => Promise<void>) {
    this.#api = api;
    this.#onUploaded = onUploaded;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly state = (): ByEngagement => this.#state;

  add(engagementId: string, files: Iterable<globalThis.File>): void {
    for (const file of files) void this.#upload(engagementId, file);
  }

  remove(engagementId: string, key: string): void {
    this.#change(engagementId, (uploads) => uploads.filter((each) => each.key !== key));
  }

  async #upload(engagementId: string, file: globalThis.File): Promise<void> {
    const upload: Upload = { key: newId(), name: file.name, share: 0, problem: null };
    const update = (change: Partial<Upload>): void =>
      this.#change(engagementId, (uploads) =>
        uploads.map((each) => (each.key === upload.key ? { ...each, ...change } : each)),
      );
    this.#change(engagementId, (uploads) => [...uploads, upload]);
    try {
      await this.#limit.run(async () =>
        this.#api.upload({ engagementId, file }, { onProgress: (share) => update({ share }) }),
      );
      await this.#onUploaded(engagementId);
      this.remove(engagementId, upload.key);
    } catch (error) {
      update({ problem: describeError(error) });
    }
  }

  #change(engagementId: string, change: (uploads: readonly Upload[]) => readonly Upload[]): void {
    this.#state = new Map(this.#state).set(engagementId, change(this.#state.get(engagementId) ?? []));
    for (const listener of this.#listeners) listener();
  }
}
