import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { allocatorSettings } from '../../scripts/built.mjs';
import { databaseProcess, temporaryDirectory, UsherProcess } from '../support/processes/process.ts';
import { until } from '../support/server.ts';

const skip = process.platform === 'linux' ? false : 'only Linux shows the environment of a process';
const setting = 'MALLOC_MMAP_THRESHOLD_=131072';

/** The environment that a process was started with. */
function environmentOf(pid: number): string[] {
  return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
}

function parentOf(pid: number): number {
  return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

test(
  'npm start makes the allocator of the server return free memory, but not that of PostgreSQL',
  { skip },
  async () => {
    const directory = temporaryDirectory();
    const launcher = spawn(process.execPath, ['scripts/run.mjs', 'start'], {
      env: { ...process.env, PORT: '0', USHER_DATA_DIR: directory.path },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const usher = new UsherProcess(launcher, 0);
    try {
      await usher.ready();
      const database = databaseProcess(directory.path);
      assert.ok(database !== null);
      assert.ok(environmentOf(parentOf(database)).includes(setting));
      assert.ok(!environmentOf(database).includes(setting));
    } finally {
      await usher.stop();
      await until(() => databaseProcess(directory.path) === null);
      directory.remove();
    }
  },
);

test('the image sets what npm start sets', () => {
  const image = readFileSync('Containerfile', 'utf8');
  for (const [name, value] of Object.entries(allocatorSettings))
    assert.ok(image.includes(`ENV ${name}=${value}\n`), name);
});
