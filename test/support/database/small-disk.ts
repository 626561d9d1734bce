import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const mebibyte = 1024 * 1024;

/** A small disk of its own, which a test can fill. */
export interface SmallDisk {
  readonly path: string;
  freeMb(): number;
  /** Writes until the disk is full. */
  fill(): void;
  /** Writes this much, unless the disk is full before. */
  fillBy(mebibytes: number): void;
  /** Frees the space that was filled. */
  free(): void;
  unmount(): void;
}

/** Mounts a small disk; `null` without the permission to mount, which only root has, on Linux. */
export function mountSmallDisk(size: string): SmallDisk | null {
  const path = mkdtempSync(join(tmpdir(), 'usher-disk-'));
  const options = `size=${size},mode=0755`;
  const { status } = spawnSync('/usr/bin/mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', path], { stdio: 'ignore' });
  if (status !== 0) {
    rmSync(path, { recursive: true, force: true });
    return null;
  }
  const filler = join(path, 'filler');
  return {
    path,
    freeMb: () => (({ bavail, bsize }) => (bavail * bsize) / mebibyte)(statfsSync(path)),
    fill() {
      try {
        for (;;) appendFileSync(filler, Buffer.alloc(mebibyte));
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
      }
    },
    fillBy(mebibytes) {
      appendFileSync(filler, Buffer.alloc(mebibytes * mebibyte));
    },
    free: () => rmSync(filler, { force: true }),
    unmount() {
      spawnSync('/usr/bin/umount', ['-l', path]);
      rmSync(path, { recursive: true, force: true });
    },
  };
}
