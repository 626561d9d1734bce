import type { Progress } from '../backup/write-backup.ts';

/** On a terminal the line is replaced; elsewhere each line goes into a log. */
const everyMs = { terminal: 200, log: 10_000 };

/** Reports the progress of a long command on stderr. `done` ends the line. */
export function progressOnStderr(verb: string): {
  readonly onProgress: (progress: Progress) => void;
  readonly done: () => void;
} {
  const { stderr } = process;
  const began = performance.now();
  let last = stderr.isTTY ? -Infinity : began;
  let hasLine = false;
  return {
    onProgress({ at, bytes, totalBytes }) {
      const now = performance.now();
      if (now - last < (stderr.isTTY ? everyMs.terminal : everyMs.log)) return;
      last = now;
      const total = totalBytes === null ? '' : ` of about ${formatBytes(Math.max(totalBytes, bytes))}`;
      const line = `${verb}: ${formatBytes(bytes)}${total} (${at})`;
      stderr.write(stderr.isTTY ? `\r\u{1b}[K${line}` : `${line}\n`);
      hasLine = true;
    },
    done() {
      if (hasLine && stderr.isTTY) stderr.write('\r\u{1b}[K');
    },
  };
}

export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1);
  const value = bytes / 1_000 ** power;
  return `${power === 0 ? value : value.toFixed(1)} ${units[power] ?? ''}`;
}
