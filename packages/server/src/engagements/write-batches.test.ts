import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from '../platform/log.ts';
import { newId, type AccountId, type EngagementId } from '../platform/ids.ts';
import { WriteBatches, type EngagementWrite } from './write-batches.ts';

interface Note extends EngagementWrite {
  readonly text: string;
}

interface Call {
  readonly texts: readonly string[];
  /** Ends the statement: every note whose text is not in `skipped` is stored. */
  commit(skipped?: readonly string[]): void;
  fail(error: Error): void;
}

/** Batches of notes whose statements end when the test says so. */
function openBatches(onCommitted: (id: AccountId) => void = () => undefined) {
  const calls: Call[] = [];
  const committed: AccountId[] = [];
  const logged: string[] = [];
  const batches = new WriteBatches<Note, string>({
    writeBatch: async (notes) =>
      new Promise((resolve, reject) => {
        calls.push({
          texts: notes.map(({ text }) => text),
          commit: (skipped = []) =>
            resolve(
              new Map(
                notes.flatMap(({ engagementId, text }) =>
                  skipped.includes(text) ? [] : [[engagementId, `stored ${text}`]],
                ),
              ),
            ),
          fail: reject,
        });
      }),
    onCommitted: (id) => {
      committed.push(id);
      onCommitted(id);
    },
    log: createLog('info', { write: (line) => void logged.push(line) }),
    subject: 'notes',
  });
  return { batches, calls, committed, logged };
}

const account = newId<AccountId>();

function note(text: string, engagementId = newId<EngagementId>(), accountId = account): Note {
  return { accountId, engagementId, text };
}

/** Lets everything run that does not wait for the test. */
async function settle(): Promise<void> {
  for (let n = 0; n < 5; n += 1) await new Promise((resolve) => setImmediate(resolve));
}

const never = async (): Promise<string> => assert.fail('it was written alone');

test('writes that arrive together are one batch, and those that arrive meanwhile wait for the next', async (context) => {
  // On a slow machine, the first batch would otherwise count as slow, and a second one would begin.
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const { batches, calls, committed } = openBatches();
  const first = ['a', 'b'].map(async (text) => batches.write(note(text), never));
  await settle();
  const second = batches.write(note('c'), never);
  await settle();
  const later = ['d', 'e'].map(async (text) => batches.write(note(text), never));
  await settle();
  assert.deepEqual(
    calls.map(({ texts }) => texts),
    [['a', 'b']],
  );
  calls[0]?.commit();
  assert.deepEqual(await Promise.all(first), ['stored a', 'stored b']);
  assert.deepEqual(calls[1]?.texts, ['c', 'd', 'e']);
  calls[1]?.commit();
  assert.deepEqual(await Promise.all([second, ...later]), ['stored c', 'stored d', 'stored e']);
  // One hint for each batch, however many writes of the account it has.
  assert.deepEqual(committed, [account, account]);
});

test('a second batch begins beside the first if it is large, or if the first is slow', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const { batches, calls } = openBatches();
  const write = async (text: string): Promise<unknown> => batches.write(note(text), never);
  const writes = [write('first')];
  await settle();
  writes.push(write('waits'));
  await settle();
  assert.equal(calls.length, 1);
  context.mock.timers.tick(10);
  assert.deepEqual(calls[1]?.texts, ['waits']);
  for (const open of calls) open.commit();
  await Promise.all(writes);
  writes.push(write('next'));
  await settle();
  writes.push(...Array.from({ length: 32 }, async (_, n) => write(String(n))));
  await settle();
  assert.equal(calls[3]?.texts.length, 32);
  for (const open of calls) open.commit();
  await Promise.all(writes);
});

test('writes to one engagement are made one after the other, in the order of their arrival', async () => {
  const { batches, calls } = openBatches();
  const busy = newId<EngagementId>();
  const written: string[] = [];
  const all = ['1', '2', '3', '4'].map(async (text) => {
    await batches.write(note(text, busy), never);
    written.push(text);
  });
  const other = batches.write(note('other'), never);
  for (const expected of [['1', 'other'], ['2'], ['3'], ['4']]) {
    await settle();
    assert.deepEqual(calls.at(-1)?.texts, expected);
    calls.at(-1)?.commit();
  }
  await Promise.all([...all, other]);
  assert.deepEqual(written, ['1', '2', '3', '4']);
});

test('a batch has at most 64 writes', async () => {
  const { batches, calls } = openBatches();
  const all = Array.from({ length: 200 }, async (_, n) => batches.write(note(String(n)), never));
  for (const expected of [64, 64, 64, 8]) {
    await settle();
    const [open] = calls.splice(0, 1);
    assert.equal(open?.texts.length, expected);
    open.commit();
  }
  assert.equal((await Promise.all(all)).length, 200);
});

test('accounts take turns in batches: writes of a busy account do not delay those of others', async () => {
  const { batches, calls } = openBatches();
  const [first, second] = [newId<AccountId>(), newId<AccountId>()];
  const write = async (text: string, accountId: AccountId): Promise<unknown> =>
    batches.write(note(text, newId(), accountId), never);
  const all = Array.from({ length: 150 }, async (_, n) => write(`busy ${n}`, account));
  all.push(write('one', first), ...['two', 'three'].map(async (text) => write(text, second)));
  await settle();
  assert.deepEqual(calls[0]?.texts.slice(0, 7), ['busy 0', 'one', 'two', 'busy 1', 'three', 'busy 2', 'busy 3']);
  assert.equal(calls[0]?.texts.length, 64);
  for (let n = 0; n < 3; n += 1) {
    for (const open of calls) open.commit();
    await settle();
  }
  await Promise.all(all);
});

test('a batch that takes too long is written alone, and only the write that takes too long alone fails', async () => {
  const { batches, calls } = openBatches();
  const timedOut = () => Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' });
  const good = batches.write(note('good'), async () => 'stored alone');
  const slow = batches.write(note('slow'), async () => Promise.reject(timedOut()));
  await settle();
  calls[0]?.fail(timedOut());
  assert.equal(await good, 'stored alone');
  await assert.rejects(slow, { code: '57014' });
});

test('an error of the callback after a commit is logged, and nothing is written again', async () => {
  const { batches, calls, committed, logged } = openBatches(() => {
    throw new Error('the callback failed');
  });
  const other = newId<AccountId>();
  const all = [batches.write(note('a'), never), batches.write(note('b', newId(), other), never)];
  const single = batches.write(note('single'), async () => 'stored alone');
  await settle();
  calls[0]?.commit(['single']);
  assert.deepEqual(await Promise.all([...all, single]), ['stored a', 'stored b', 'stored alone']);
  await settle();
  assert.deepEqual(committed, [account, other, account]);
  assert.equal(logged.join('').match(/could not report that notes were committed/g)?.length, 3);
  const next = batches.write(note('next'), never);
  await settle();
  assert.deepEqual(calls[1]?.texts, ['next']);
  calls[1]?.commit();
  await next;
});

test('a skipped write is made alone, while other batches go on and the next write to its engagement waits', async () => {
  const { batches, calls, committed } = openBatches();
  const locked = newId<EngagementId>();
  const single = Promise.withResolvers<string>();
  const skipped = batches.write(note('skipped', locked), async () => single.promise);
  const next = batches.write(note('next', locked), never);
  const beside = batches.write(note('beside'), never);
  await settle();
  calls[0]?.commit(['skipped']);
  assert.equal(await beside, 'stored beside');
  const free = batches.write(note('free'), never);
  await settle();
  assert.deepEqual(calls[1]?.texts, ['free']);
  calls[1]?.commit();
  await free;
  single.resolve('stored alone');
  assert.equal(await skipped, 'stored alone');
  await settle();
  assert.deepEqual(calls[2]?.texts, ['next']);
  calls[2]?.commit();
  await next;
  assert.equal(committed.length, 4);
});

test('a refused write is refused alone, and no hint is sent for it', async () => {
  const { batches, calls, committed } = openBatches();
  const [other, refusing] = [newId<AccountId>(), newId<EngagementId>()];
  const refused = batches.write(note('refused', refusing, other), async () => null);
  const failed = batches.write(note('failed', newId(), other), async () => {
    throw new Error('the id exists');
  });
  const good = batches.write(note('good'), never);
  await settle();
  calls[0]?.commit(['refused', 'failed']);
  assert.equal(await refused, null);
  await assert.rejects(failed, /the id exists/);
  assert.equal(await good, 'stored good');
  assert.deepEqual(committed, [account]);
});

test('a lost connection fails all writes of the batch alike, and those that wait are written', async () => {
  const { batches, calls } = openBatches();
  const lost = ['a', 'b'].map(async (text) => batches.write(note(text), never));
  const [repeated] = [newId<EngagementId>()];
  lost.push(batches.write(note('c', repeated), never));
  const waiting = batches.write(note('after c', repeated), never);
  await settle();
  calls[0]?.fail(Object.assign(new Error('lost'), { code: 'CONNECTION_CLOSED' }));
  for (const outcome of await Promise.allSettled(lost)) assert.equal(outcome.status, 'rejected');
  await settle();
  assert.deepEqual(calls[1]?.texts, ['after c']);
  calls[1]?.commit();
  assert.equal(await waiting, 'stored after c');
});

test('after a fault of a batch each write is made alone, and only the faulty one fails', async () => {
  const { batches, calls, logged } = openBatches();
  const good = batches.write(note('good'), async () => 'stored alone');
  const faulty = batches.write(note('faulty'), async () => {
    throw new Error('a fault');
  });
  await settle();
  calls[0]?.fail(Object.assign(new Error('a fault'), { code: '22P02' }));
  assert.equal(await good, 'stored alone');
  await assert.rejects(faulty, /a fault/);
  assert.match(logged.join(''), /a batch of notes failed/);
});

test('a write that has waited too long is rejected as unavailable, and the next one is written', async (context) => {
  const { batches, calls } = openBatches();
  const busy = newId<EngagementId>();
  const began = performance.now();
  const first = batches.write(note('first', busy), never);
  const late = assert.rejects(batches.write(note('late', busy), never), { code: 'CONNECT_TIMEOUT' });
  await settle();
  const now = context.mock.method(performance, 'now', () => began + 10_500);
  const last = batches.write(note('last', busy), never);
  calls[0]?.commit();
  await Promise.all([first, late]);
  await settle();
  now.mock.restore();
  assert.deepEqual(calls[1]?.texts, ['last']);
  calls[1]?.commit();
  assert.equal(await last, 'stored last');
});

test('stopping waits for the writes that are under way', async () => {
  const { batches, calls } = openBatches();
  await batches.stop();
  const written = batches.write(note('a'), never);
  await settle();
  const events: string[] = [];
  const stopped = batches.stop().then(() => events.push('stopped'));
  void written.then(() => events.push('written'));
  calls[0]?.commit();
  await stopped;
  assert.deepEqual(events, ['written', 'stopped']);
});
