import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolSql } from './driver/pool-sql.ts';
import { Pulse, type Abandonable } from './pulse.ts';

/**
 * Watches a database whose heartbeats take as long as the list says, one after the other. Resolves with whether the connections were
 * abandoned before the heartbeat after the last one of the list, which is never answered.
 */
async function isAbandoned(beatsMs: readonly number[]): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const pool = { abandon: () => resolve(true) } satisfies Abandonable;
  let beats = 0;
  const answer = async (): Promise<void> => {
    const beatMs = beatsMs[beats];
    beats += 1;
    if (beatMs === undefined) resolve(false);
    else await sleep(beatMs, undefined, { ref: false });
  };
  const sql = Object.assign(answer, { end: async () => undefined });
  const pulse = new Pulse(sql as unknown as PoolSql, pool, new Set());
  // The timers of the pulse and of the answers do not keep the process running.
  const running = setInterval(() => undefined, 1_000);
  const result = await promise;
  clearInterval(running);
  await pulse.stop();
  return result;
}

suite('heartbeats', { concurrency: true }, () => {
  test('a database that answered at once and then is silent for four seconds is abandoned', async () => {
    assert.equal(await isAbandoned([10, 10, 4_600]), true);
  });

  test('a database that was slow before may take longer', async () => {
    assert.equal(await isAbandoned([500, 1_100, 4_600]), false);
  });

  test('a slow database that falls silent is abandoned within the time that a request may take', async () => {
    const began = performance.now();
    assert.equal(await isAbandoned([2_500, 60_000]), true);
    const silentMs = performance.now() - began - 1_000 - 2_500;
    assert.ok(silentMs < 10_000, `abandoned after ${Math.round(silentMs)} ms`);
  });
});
