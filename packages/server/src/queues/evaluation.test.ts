import assert from 'node:assert/strict';
import { test } from 'node:test';
import { media, type Medium } from '@usher/contract/media';
import fc from 'fast-check';
import type { QueueId, SiteId, TeamId } from '../platform/ids.ts';
import { renderQueues } from './evaluated-site.ts';
import { factsAt } from './facts.ts';
import { mediaOf, type QueueRow } from './queue.ts';
import type { QueueInputs } from './queue-inputs.ts';
import type { StaffGroup } from './staff.ts';
import { admissionOf, Evaluation, fallbackChain, type CapacityPolicy, type EvaluatedQueue } from './status.ts';

/** One available operator, as the plain evaluation sees them. */
interface Operator {
  readonly site: SiteId;
  readonly teams: readonly TeamId[];
  readonly media: readonly Medium[];
}

interface Account {
  readonly queues: readonly QueueRow[];
  readonly operators: readonly Operator[];
  readonly counts: QueueInputs['counts'];
}

const now = Date.parse('2027-01-04T09:00:00Z');
const idOf = (index: number): QueueId => `q${index}` as QueueId;

const sites = fc.constantFrom('s1' as SiteId, 's2' as SiteId);
const teams = fc.subarray(['t1', 't2', 't3', 't4'] as TeamId[]);
const someMedia = fc.subarray([...media]);
const capacity: fc.Arbitrary<CapacityPolicy> = fc.oneof(
  fc.record({ type: fc.constant('fixed' as const), capacity: fc.nat(4) }),
  fc.record({ type: fc.constant('variable' as const), multiplier: fc.double({ min: 0.1, max: 2, noNaN: true }) }),
);

const accounts: fc.Arbitrary<Account> = fc
  .tuple(
    fc.array(fc.record({ site: sites, teams, media: someMedia }), { maxLength: 12 }),
    fc.array(
      fc.record({
        site: sites,
        teams,
        media: someMedia,
        capacity,
        accepts: fc.boolean(),
        visitors: fc.nat(4),
        // Any of the queues or none, itself included: a stored cycle must not hang the evaluation.
        fallback: fc.option(fc.nat(9)),
      }),
      { minLength: 1, maxLength: 10 },
    ),
  )
  .map(([operators, drafts]) => ({
    operators,
    queues: drafts.map((draft, n) => rowOf(draft, n)),
    counts: new Map(drafts.map(({ visitors }, n) => [idOf(n), { id: idOf(n), visitors, average_wait: 0 }])),
  }));

interface QueueDraft {
  readonly site: SiteId;
  readonly teams: TeamId[];
  readonly media: Medium[];
  readonly capacity: CapacityPolicy;
  readonly accepts: boolean;
  readonly fallback: number | null;
}

function rowOf(draft: QueueDraft, n: number): QueueRow {
  const at = new Date(now);
  return {
    id: idOf(n),
    account_id: 'a' as QueueRow['account_id'],
    site_id: draft.site,
    name: `Queue ${n}`,
    description: null,
    capacity_policy: draft.capacity,
    routing_policy: { media: draft.media, team_ids: draft.teams },
    when_unstaffed: draft.accepts ? 'accept' : 'reject',
    operator_ranking_enabled: false,
    welcome_message: null,
    scheduling_policy_id: null,
    fallback_queue_id: draft.fallback === null ? null : idOf(draft.fallback),
    operator_affinity: null,
    version: 1,
    created_at: at,
    updated_at: at,
  };
}

/** As the database groups them. */
function groupsOf(operators: readonly Operator[]): StaffGroup[] {
  const groups = Map.groupBy(operators, (operator) => JSON.stringify(operator));
  return [...groups.values()].flatMap((group) =>
    group.slice(0, 1).map(({ site, teams: team_ids, media: taken }) => ({
      site_id: site,
      team_ids,
      media: taken,
      operators: group.length,
      expires_at: null,
    })),
  );
}

/** D1.2, D1.4, D1.6, D2.1 and D2.5, by looking at every operator for every queue of the chain. */
function evaluatePlainly(account: Account, queue: QueueRow): EvaluatedQueue & { readonly staff: number } {
  const byId = new Map(account.queues.map((row) => [row.id, row]));
  const staffOf = (row: QueueRow): readonly Operator[] => {
    const { team_ids: wanted = [] } = row.routing_policy;
    return account.operators.filter(
      (operator) =>
        operator.site === row.site_id &&
        (wanted.length === 0 || wanted.some((team) => operator.teams.includes(team))) &&
        operator.media.some((medium) => mediaOf(row).includes(medium)),
    );
  };
  const statusOf = (row: QueueRow) =>
    admissionOf({
      open: true,
      staff: staffOf(row).length,
      whenUnstaffed: row.when_unstaffed,
      capacityPolicy: row.capacity_policy,
      visitors: account.counts.get(row.id)?.visitors ?? 0,
    });
  const admitted = (row: QueueRow): readonly Medium[] =>
    staffOf(row).length === 0
      ? mediaOf(row)
      : mediaOf(row).filter((medium) => staffOf(row).some((operator) => operator.media.includes(medium)));
  const chain = fallbackChain(queue, ({ fallback_queue_id: id }) => (id === null ? undefined : byId.get(id)));
  const opened = chain.filter((row) => statusOf(row) === 'opened');
  const available = new Set(opened.flatMap(admitted));
  const staff = staffOf(queue).length;
  const policy = queue.capacity_policy;
  return {
    self_status: statusOf(queue),
    status: opened.length > 0 ? 'opened' : statusOf(queue),
    capacity: policy.type === 'fixed' ? policy.capacity : Math.floor(policy.multiplier * staff),
    media: media.filter((medium) => available.has(medium)),
    staff,
  };
}

test('queues of random accounts are evaluated as by looking at every operator for every queue', () => {
  fc.assert(
    fc.property(accounts, (account) => {
      const { queues: rows, operators, counts } = account;
      const { facts } = factsAt({ rows, hours: new Map(), staff: groupsOf(operators), counts }, now);
      const evaluation = new Evaluation(facts);
      for (const queue of account.queues) {
        const own = facts.get(queue.id);
        assert.ok(own);
        assert.deepEqual({ ...evaluation.of(own), staff: own.staff }, evaluatePlainly(account, queue));
      }
    }),
    { numRuns: 3_000 },
  );
});

test('a chain of 20,000 queues is evaluated without visiting each queue for each other', () => {
  const length = 20_000;
  const draft = { site: 's1' as SiteId, teams: [], media: ['text' as const], accepts: false };
  const queues = Array.from({ length }, (_, n) =>
    rowOf({ ...draft, capacity: { type: 'fixed', capacity: 0 }, fallback: n + 1 < length ? n + 1 : null }, n),
  );
  const staff = [{ site_id: 's1' as SiteId, team_ids: [], media, operators: 1, expires_at: null }];
  let visited = 0;
  const { facts } = factsAt({ rows: queues, hours: new Map(), staff, counts: new Map() }, now);
  const counting = new Map(facts);
  counting.get = (id) => {
    visited += 1;
    return facts.get(id);
  };
  const evaluation = new Evaluation(counting);
  for (const queue of facts.values()) assert.equal(evaluation.of(queue).status, 'full');
  assert.ok(visited < 4 * length, `${visited} queues were looked up`);
});

test('the cached answer of a site keeps no other memory', () => {
  const answer = renderQueues([]);
  assert.equal(answer.buffer.byteLength, answer.length);
});
