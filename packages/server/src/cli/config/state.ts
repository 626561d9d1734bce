import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '../../platform/errors.ts';
import type { Ranking, ServerThing } from './kinds.ts';

/** What the folder knows of the server. It has no secrets, and belongs into version control with the files. */
export interface State {
  /** Entity tags at the last pull or apply, by `kind:id`; of rankings, which have none, a hash. */
  readonly versions: Record<string, string>;
  /** Ids of things that have no id in their file, by `kind/site id/name`. */
  readonly created: Record<string, string>;
  /** Hashes of the files at the last pull or apply. */
  readonly files: Record<string, string>;
}

const stateFile = '.usher-state.json';

export function readState(folder: string): State {
  const path = join(folder, stateFile);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { versions: {}, created: {}, files: {} };
    throw new StartError(`${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? ''}).`, { cause: error });
  }
  try {
    const { versions, created, files } = JSON.parse(text) as State;
    return { versions: { ...versions }, created: { ...created }, files: { ...files } };
  } catch (error) {
    throw new StartError(
      `${path} is damaged. Restore it from version control, or delete it and pull into another folder.`,
      { cause: error },
    );
  }
}

/** The file is complete at every moment. Its keys are sorted, so that a diff is small. */
export function writeState(folder: string, state: State): void {
  const sorted = (record: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(record).toSorted(([one], [other]) => (one < other ? -1 : 1)));
  const { versions, created, files } = state;
  const value = { versions: sorted(versions), created: sorted(created), files: sorted(files) };
  writeWhole(join(folder, stateFile), `${JSON.stringify(value, null, 2)}\n`);
}

export function writeWhole(path: string, text: string): void {
  try {
    writeFileSync(`${path}.new`, text);
    renameSync(`${path}.new`, path);
  } catch (error) {
    throw new StartError(`${path} cannot be written (${(error as NodeJS.ErrnoException).code ?? ''}).`, {
      cause: error,
    });
  }
}

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);

export const versionKey = ({ kind, id }: Pick<ServerThing, 'kind' | 'id'>): string => `${kind}:${id}`;
export const rankingsKey = (queueId: string): string => `rankings:${queueId}`;

export function rankingsVersion(rankings: readonly Ranking[]): string {
  const sorted = rankings.map(({ id, rank }) => `${id} ${rank}`).toSorted();
  return hashOf(sorted.join('\n'));
}

/** The versions of a thing and, for a queue, of its rankings. */
export function versionsOf(thing: ServerThing): Record<string, string> {
  return {
    [versionKey(thing)]: thing.etag,
    ...(thing.rankings === null ? {} : { [rankingsKey(thing.id)]: rankingsVersion(thing.rankings) }),
  };
}
