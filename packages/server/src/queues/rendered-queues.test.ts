import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { QueueId, SiteId } from '../platform/ids.ts';
import { snapshotAt, type ComputedFields, type Counts } from './facts.ts';
import { media } from '@usher/contract/media';
import { queueFields, type QueueRow } from './queue.ts';
import { looksSame, RenderedQueues } from './rendered-queues.ts';

const now = Date.parse('2027-01-04T09:00:00Z');

function rowOf(n: number): QueueRow {
  return {
    id: `q${n}` as QueueId,
    account_id: 'a' as QueueRow['account_id'],
    site_id: 's' as SiteId,
    name: `Queue "${n}" \u2028 ☎`,
    description: null,
    capacity_policy: { type: 'variable', multiplier: 1.5 },
    routing_policy: { media: ['text'] },
    when_unstaffed: 'accept',
    operator_ranking_enabled: false,
    welcome_message: '{"a":1}',
    scheduling_policy_id: null,
    fallback_queue_id: null,
    operator_affinity: { time_window_sec: 5 },
    version: 1,
    created_at: new Date(now),
    updated_at: new Date(now),
  };
}

const rows = [0, 1, 2].map(rowOf);
const shown = rows.map((row) => queueFields.show(row));

function render(operators: number, waiting: readonly number[], before: RenderedQueues | null): RenderedQueues {
  const settings = { rows, hours: new Map(), siteIds: [] };
  const groups = [{ site_id: 's' as SiteId, team_ids: [], media, operators, expires_at: null }];
  const counts: Counts = new Map(
    waiting.map((visitors, n) => [`q${n}` as QueueId, { id: `q${n}` as QueueId, visitors, average_wait: 1.25 }]),
  );
  return new RenderedQueues(shown, { snapshot: snapshotAt(settings, groups, now), counts }, before);
}

test('the JSON of queues is what JSON.stringify makes of them, also after changes', () => {
  let rendered: RenderedQueues | null = null;
  for (const [operators, waiting] of [
    [0, []],
    [2, [1]],
    [2, [1, 0, 7]],
    [3, [1, 0, 7]],
  ] as const) {
    rendered = render(operators, waiting, rendered);
    const plain = JSON.stringify({ queues: rendered.list, next_page: null });
    assert.equal(rendered.answer.toString(), plain);
    assert.equal(`[${rendered.json}]`, JSON.stringify(rendered.list));
  }
});

test('a queue that looks as before keeps its object, and one that does not gets another', () => {
  const before = render(2, [1, 1, 1], null);
  const after = render(2, [1, 2, 1], before);
  const isKept = after.list.map((queue, n) => queue === before.list[n]);
  assert.deepEqual(isKept, [true, false, true]);
  assert.equal(after.list[1]?.visitors_count, 2);
});

test('a difference in any computed field is noticed', () => {
  const computed: Record<keyof ComputedFields, unknown> = {
    capacity: 3,
    available_properties: { media: [] },
    status: 'opened',
    self_status: 'opened',
    staffed: true,
    visitors_count: 1,
    average_wait_time: 1.5,
  };
  const own = computed as unknown as ComputedFields;
  assert.ok(looksSame(own, { ...own }));
  for (const field of Object.keys(computed)) assert.ok(!looksSame(own, { ...own, [field]: 'another' }), field);
});
