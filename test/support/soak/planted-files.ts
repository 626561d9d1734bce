import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface PlantedFile {
  readonly path: string;
  readonly atMs: number;
  readonly isOld: boolean;
}

interface FileLedger {
  readonly old: number;
  readonly oldLeft: number;
  readonly young: number;
  readonly youngLeft: number;
}

/** Much longer ago than an upload may take. */
const hoursAgo = 2;
/** Longer than any run: what is received until then is not a leftover. */
const hoursAhead = 100;

/** Plants what crashed uploads leave on the disk: a mark and the bytes that had arrived, without a row. */
export class PlantedFiles {
  readonly #root: string;
  readonly #files: PlantedFile[] = [];

  constructor(dataDir: string) {
    this.#root = join(dataDir, 'files');
  }

  plant({ old = 0, young = 0 }: { readonly old?: number; readonly young?: number }): void {
    for (let count = 0; count < old; count += 1) this.#write(true);
    for (let count = 0; count < young; count += 1) this.#write(false);
  }

  #write(isOld: boolean): void {
    const mark = join(this.#root, 'incoming', randomUUID());
    mkdirSync(join(this.#root, 'incoming'), { recursive: true });
    const at = Date.now() / 1_000 + 3_600 * (isOld ? -hoursAgo : hoursAhead);
    for (const path of [mark, `${mark}.part`]) {
      writeFileSync(path, '');
      utimesSync(path, at, at);
      this.#files.push({ path, atMs: performance.now(), isOld });
    }
  }

  /** What became of the files that were planted at least `ageMs` ago. */
  ledger(ageMs = 0): FileLedger {
    const found = this.#files.filter(({ atMs }) => atMs <= performance.now() - ageMs);
    const [old, young] = [found.filter(({ isOld }) => isOld), found.filter(({ isOld }) => !isOld)];
    const left = (of: readonly PlantedFile[]): number => of.filter(({ path }) => existsSync(path)).length;
    return { old: old.length, oldLeft: left(old), young: young.length, youngLeft: left(young) };
  }

  /** The stored files that were not planted. */
  countOnDisk(): number {
    const planted = new Set(this.#files.map(({ path }) => path));
    return readdirSync(this.#root, { recursive: true, withFileTypes: true }).filter(
      (entry) => entry.isFile() && !planted.has(join(entry.parentPath, entry.name)),
    ).length;
  }
}
