import type { Readable } from 'node:stream';
import type { FormatName } from './format.ts';
import { readBackup } from './read-backup.ts';
import { countRows, type Progress } from './write-backup.ts';

export interface CheckedBackup {
  readonly usher: string;
  readonly postgres: string;
  readonly schema: number;
  readonly created_at: string;
  readonly tables: number;
  readonly rows: number;
  readonly files: number;
  /** Uncompressed. */
  readonly bytes: number;
}

interface CheckOptions {
  readonly format?: FormatName;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
}

/** Reads a whole backup and compares its checksum. Needs no database. */
export async function checkBackup(
  from: Readable,
  { format = 'backup', signal, onProgress }: CheckOptions,
): Promise<CheckedBackup> {
  let [tables, rows, files, bytes] = [0, 0, 0, 0];
  const add = (at: string, chunk: Buffer): void => {
    bytes += chunk.length;
    onProgress({ at, bytes, totalBytes: null });
  };
  const header = await readBackup(
    { from, format, signal },
    {
      header: async () => undefined,
      async table({ name }, body) {
        tables += 1;
        for await (const chunk of body) {
          rows += countRows(chunk);
          add(name, chunk);
        }
      },
      sequences: async () => undefined,
      async file(_id, body) {
        files += 1;
        for await (const chunk of body) add('files', chunk);
      },
    },
  );
  const { usher, postgres, migrations, created_at } = header;
  return { usher, postgres, schema: migrations.length, created_at, tables, rows, files, bytes };
}
