import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsherUnreachable } from '@usher/sdk/errors';
import { IdempotencyKeys } from './idempotency-keys.ts';

const never = Promise.withResolvers<never>();

test('concurrent equal requests have the same key, another request has another', async () => {
  const idempotencyKeys = new IdempotencyKeys();
  const keys: string[] = [];
  const first = Promise.withResolvers<void>();
  const send = async (key: string): Promise<void> => {
    keys.push(key);
    await first.promise;
  };
  const both = [idempotencyKeys.run('a', send), idempotencyKeys.run('a', send)];
  void idempotencyKeys.run('b', async (key) => {
    keys.push(key);
    return never.promise;
  });
  const [one, two, other] = keys;
  assert.equal(one, two);
  assert.notEqual(one, other);
  first.resolve();
  await Promise.all(both);
});

test('an answered request gets a new key next time; after a lost answer the key is reused for a minute', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const idempotencyKeys = new IdempotencyKeys();
  const keyOf = async (error?: Error): Promise<string> => {
    const used: string[] = [];
    const sent = idempotencyKeys.run('a', async (key) => {
      used.push(key);
      if (error !== undefined) throw error;
    });
    await (error === undefined ? sent : assert.rejects(sent, error));
    return used.join(' ');
  };
  const first = await keyOf();
  const lost = await keyOf(new UsherUnreachable(null));
  const again = await keyOf(new Error('refused'));
  const fresh = await keyOf();
  assert.notEqual(first, lost);
  assert.equal(lost, again);
  assert.notEqual(again, fresh);

  const lostLater = await keyOf(new UsherUnreachable(null));
  t.mock.timers.tick(60_000);
  assert.notEqual(await keyOf(), lostLater);
});
