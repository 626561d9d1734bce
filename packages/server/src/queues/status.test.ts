import assert from 'node:assert/strict';
import { test } from 'node:test';
import { media, type Medium } from '@usher/contract/media';
import fc from 'fast-check';
import type { QueueId } from '../platform/ids.ts';
import { Evaluation, type EvaluatedQueue, type QueueFacts } from './status.ts';

/** The facts of a queue, with the media of each operator who staffs it. */
interface QueueDraft extends Omit<QueueFacts, 'staff' | 'staffedMedia'> {
  readonly staff: readonly (readonly Medium[])[];
}

const base: QueueDraft = {
  id: 'a' as QueueId,
  fallback_queue_id: null,
  open: true,
  capacity_policy: { type: 'fixed', capacity: 2 },
  when_unstaffed: 'reject',
  media,
  staff: [media],
  visitors: 0,
};

function factsOf({ staff, ...draft }: QueueDraft): QueueFacts {
  const staffedMedia = draft.media.filter((medium) => staff.some((taken) => taken.includes(medium)));
  return { ...draft, staff: staff.length, staffedMedia };
}

function alone(facts: Partial<QueueDraft>): EvaluatedQueue {
  return together([facts]);
}

/** The first of a chain: each falls back to the next. */
function together(links: readonly Partial<QueueDraft>[]): EvaluatedQueue {
  const facts = links.map((link, index) =>
    factsOf({
      ...base,
      ...link,
      id: `q${index}` as QueueId,
      fallback_queue_id: index + 1 < links.length ? (`q${index + 1}` as QueueId) : null,
    }),
  );
  const [first] = facts;
  assert.ok(first);
  return evaluate(first, facts);
}

function evaluate(queue: QueueFacts, queues: readonly QueueFacts[]): EvaluatedQueue {
  return new Evaluation(new Map(queues.map((each) => [each.id, each]))).of(queue);
}

test('D1.2 closed takes precedence over unstaffed, unstaffed over full, full over opened', () => {
  assert.equal(alone({ open: false, staff: [], visitors: 9 }).self_status, 'closed');
  assert.equal(alone({ staff: [], visitors: 9 }).self_status, 'unstaffed');
  assert.equal(alone({ visitors: 2 }).self_status, 'full');
  assert.equal(alone({ visitors: 1 }).self_status, 'opened');
  assert.equal(alone({ capacity_policy: { type: 'fixed', capacity: 0 } }).self_status, 'full');
});

test('D1.3 an unstaffed queue that accepts is opened until it is full; with a variable policy it is full', () => {
  const accepting = { when_unstaffed: 'accept', staff: [] } as const;
  assert.equal(alone({ ...accepting, visitors: 1 }).self_status, 'opened');
  assert.equal(alone({ ...accepting, visitors: 2 }).self_status, 'full');
  const variable = alone({ ...accepting, capacity_policy: { type: 'variable', multiplier: 3 } });
  assert.deepEqual([variable.self_status, variable.capacity], ['full', 0]);
});

test('D1.4 an opened queue opens every queue before it in the chain; otherwise each has its own status', () => {
  const closed = { open: false };
  const full = { visitors: 5 };
  assert.deepEqual(pick(together([closed, full, {}])), ['closed', 'opened']);
  assert.deepEqual(pick(together([closed, full])), ['closed', 'closed']);
  assert.deepEqual(pick(together([full, closed])), ['full', 'full']);
  assert.deepEqual(pick(together([{}, closed])), ['opened', 'opened']);
});

function pick({ self_status, status }: EvaluatedQueue): string[] {
  return [self_status, status];
}

test('D1.6 media are those of the opened queues of the chain, limited to what their staff takes', () => {
  assert.deepEqual(alone({ media: ['text', 'audio'], staff: [['text', 'video']] }).media, ['text']);
  assert.deepEqual(alone({ media: ['text', 'audio'], staff: [['text'], ['audio']] }).media, ['text', 'audio']);
  assert.deepEqual(alone({ media: ['video'], staff: [], when_unstaffed: 'accept' }).media, ['video']);
  assert.deepEqual(alone({ open: false }).media, []);
  assert.deepEqual(alone({ visitors: 2 }).media, []);
  const chained = together([
    { media: ['text'], staff: [['text']] },
    { media: ['phone'], open: false },
    { media: ['video', 'text'], staff: [['video']] },
  ]);
  assert.deepEqual(chained.media, ['text', 'video']);
});

test('D2.5 the effective capacity is the fixed one, or the multiplier times the staff, rounded down', () => {
  const variable = (multiplier: number, staff: number): number =>
    alone({
      capacity_policy: { type: 'variable', multiplier },
      staff: Array.from({ length: staff }, (): Medium[] => ['text']),
    }).capacity;
  assert.equal(alone({}).capacity, 2);
  assert.equal(variable(1.5, 3), 4);
  assert.equal(variable(0.3, 3), 0);
  assert.equal(variable(0.3, 4), 1);
  assert.equal(variable(1e300, 5), Number.MAX_SAFE_INTEGER);
});

test('a stored fallback cycle does not hang the evaluation', () => {
  const a = factsOf({ ...base, id: 'a' as QueueId, fallback_queue_id: 'b' as QueueId, open: false });
  const b = factsOf({ ...base, id: 'b' as QueueId, fallback_queue_id: 'a' as QueueId, open: false });
  assert.equal(evaluate(a, [a, b]).status, 'closed');
});

test('a status is opened if and only if at least one medium is admitted', () => {
  const subset = fc.subarray([...media], { minLength: 1 });
  const link = fc.record({
    open: fc.boolean(),
    visitors: fc.nat(4),
    when_unstaffed: fc.constantFrom('accept' as const, 'reject' as const),
    capacity_policy: fc.oneof(
      fc.record({ type: fc.constant('fixed' as const), capacity: fc.nat(3) }),
      fc.record({ type: fc.constant('variable' as const), multiplier: fc.double({ min: 0.1, max: 3, noNaN: true }) }),
    ),
    staffMedia: fc.array(subset, { maxLength: 3 }),
    media: subset,
  });
  fc.assert(
    fc.property(fc.array(link, { minLength: 1, maxLength: 4 }), (links) => {
      const facts = links.map(({ staffMedia, ...rest }) => ({
        ...rest,
        staff: staffMedia.filter((taken) => taken.some((medium) => rest.media.includes(medium))),
      }));
      const { status, media: available } = together(facts);
      assert.equal(status === 'opened', available.length > 0);
    }),
    { numRuns: 2_000 },
  );
});
