import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { TicketLine } from './ticket-line.ts';

const tickets = Array.from({ length: 1_200 }, (_, seq) => ({ seq }));
/** Runs of tickets, so that lines become longer than a chunk: upwards as new tickets come, downwards as old ones return. */
const change = fc.record({
  from: fc.nat({ max: tickets.length - 1 }),
  count: fc.oneof(fc.constant(1), fc.nat({ max: 700 })),
  direction: fc.constantFrom(1, 1, -1),
  what: fc.constantFrom('add', 'add', 'delete', 'deleteFirst'),
});

test('a line behaves like a sorted list of its tickets', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 25 }), (changes) => {
      const line = new TicketLine<{ readonly seq: number }>();
      const expected = new Set<number>();
      for (const { from, count, direction, what } of changes) {
        for (let n = 0; n < count; n += 1) {
          const ticket = what === 'deleteFirst' ? line.first() : tickets[from + n * direction];
          if (ticket === undefined) break;
          if (what !== 'add') assert.equal(line.delete(ticket), expected.delete(ticket.seq));
          else if (expected.has(ticket.seq)) assert.throws(() => line.add(ticket), /already/);
          else line.add(ticket);
          if (what === 'add') expected.add(ticket.seq);
        }
        const list = [...expected].toSorted((a, b) => a - b);
        assert.deepEqual(Array.from(line, ({ seq }) => seq), list); // prettier-ignore
        assert.deepEqual(Array.from(line, (ticket) => line.rank(ticket)), [...list.keys()]); // prettier-ignore
        assert.deepEqual([line.size, line.first()?.seq], [list.length, list[0]]);
        assert.equal(line.firstWhere(({ seq }) => seq % 7 === 3)?.seq, list.find((seq) => seq % 7 === 3)); // prettier-ignore
      }
    }),
    { numRuns: 150, seed: 1 },
  );
});

test('the rank of a ticket that is not in the line throws', () => {
  const line = new TicketLine<{ readonly seq: number }>();
  assert.throws(() => line.rank({ seq: 1 }), /not in the line/);
  line.add({ seq: 1 });
  assert.throws(() => line.rank({ seq: 1 }), /not in the line/);
});
