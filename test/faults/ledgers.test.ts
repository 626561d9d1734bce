import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ledgers, type StoredChanges, type Verdict } from '../support/faults/ledgers.ts';

/** What a run with these messages of one writer shows, if nothing is wrong except for what `spoil` does. */
function judge(messages: readonly string[], spoil: (ledgers: Ledgers, stored: MutableStored) => void): Verdict {
  const ledgers = new Ledgers(1);
  for (const message of messages) ledgers.acknowledge(message);
  const stored = { events: messages.map(messageEvent), messages: [...messages], tickets: ['t'] };
  spoil(ledgers, stored);
  return ledgers.judge(stored);
}

interface MutableStored extends StoredChanges {
  events: StoredChanges['events'][number][];
  messages: string[];
  tickets: string[];
}

function messageEvent(content: string): StoredChanges['events'][number] {
  return { type: 'engagement.chat.message', payload: { message: { content } } };
}

function arrive(ledgers: Ledgers, receiver: readonly string[], feed = receiver): void {
  for (const message of receiver) ledgers.receiver.record(message);
  for (const message of feed) ledgers.feeds[0]?.record(message);
}

const sent = ['0 0', '0 1', '0 2'];

test('ledgers that agree show nothing', () => {
  const { longestStopMs: _stop, ...verdict } = judge(sent, (ledgers) => arrive(ledgers, sent));
  const nothing = { lost: [], invented: [], outOfOrder: [], doubled: 0, repeated: 0 };
  assert.deepEqual(verdict, { acknowledged: 3, ...nothing });
});

test('an acknowledged change that is missing anywhere is lost', () => {
  const missing = judge(sent, (ledgers, stored) => {
    arrive(ledgers, ['0 0', '0 2'], ['0 0', '0 1']);
    stored.events.pop();
    stored.messages.shift();
    ledgers.acknowledgeTicket('another');
  });
  assert.deepEqual(missing.lost, ['log: 0 2', 'transcripts: 0 0', 'receiver: 0 1', 'feed 1: 0 2', 'tickets: another']);
});

test('starts and ends of engagements are in the log and not in transcripts', () => {
  const { lost } = judge(['e-1 0', 'e-1 1', 'e-1 2'], (ledgers, stored) => {
    arrive(ledgers, ['e-1 0', 'e-1 1', 'e-1 2']);
    stored.events = [
      { type: 'engagement.start', payload: { engagement: { id: 'e-1' } } },
      messageEvent('e-1 1'),
      { type: 'engagement.end', payload: { engagement: { id: 'e-1' } } },
    ];
    stored.messages = [];
  });
  assert.deepEqual(lost, ['transcripts: e-1 1']);
});

test('a change that arrived and is not in the log was invented', () => {
  const { invented } = judge(sent, (ledgers) => arrive(ledgers, [...sent, '0 3']));
  assert.deepEqual(invented, ['receiver: 0 3', 'feed 1: 0 3']);
});

test('a change that arrives after a later one of its lane is out of order', () => {
  const { outOfOrder } = judge(sent, (ledgers, stored) => {
    arrive(ledgers, ['0 1', '0 0', '0 2'], sent);
    stored.events.reverse();
  });
  assert.deepEqual(outOfOrder, ['log: 0 1', 'log: 0 0', 'receiver: 0 0']);
});

test('a repeated delivery is counted, and a change that is twice in the log or on a feed is doubled', () => {
  const verdict = judge(sent, (ledgers, stored) => {
    arrive(ledgers, [...sent, '0 0', '0 0'], [...sent, '0 1']);
    stored.events.push(messageEvent('0 2'));
  });
  assert.deepEqual([verdict.repeated, verdict.doubled], [2, 2]);
});

test('the longest stop is the longest time without an acknowledgement since the watch began', async () => {
  const ledgers = new Ledgers(1);
  ledgers.startWatch();
  await new Promise((resolve) => setTimeout(resolve, 30));
  ledgers.acknowledge('0 0');
  ledgers.acknowledgeTicket('t');
  const { longestStopMs } = ledgers.judge({ events: [], messages: [], tickets: [] });
  assert.ok(longestStopMs > 25, String(longestStopMs));
});

test('the first change that was acknowledged after an instant is found', () => {
  const ledgers = new Ledgers(1);
  ledgers.acknowledge('0 0');
  const since = performance.now();
  assert.throws(() => ledgers.firstAfter(since), /nothing was acknowledged/);
  ledgers.acknowledge('0 1');
  const first = ledgers.firstAfter(since);
  ledgers.acknowledge('0 2');
  assert.equal(ledgers.firstAfter(since), first);
  assert.ok(first >= since && first <= performance.now());
});
