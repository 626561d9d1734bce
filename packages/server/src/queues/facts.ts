import type { QueueId, SchedulingPolicyId } from '../platform/ids.ts';
import { isOpen, nextChange } from '../schedules/hours.ts';
import { mediaOf, type QueueOutput, type QueueRow, type ShownQueue } from './queue.ts';
import type { QueueInputs } from './queue-inputs.ts';
import { Staff } from './staff.ts';
import type { EvaluatedQueue, QueueFacts } from './status.ts';
import type { QueueCount } from './store.ts';

/** The facts of queues at an instant. */
export interface FactsSnapshot {
  readonly facts: ReadonlyMap<QueueId, QueueFacts>;
  /** The next opening of each queue that is outside its hours. */
  readonly openings: ReadonlyMap<QueueId, number>;
  /** When the hours of a queue next begin or end. */
  readonly hoursChangeAt: number;
}

export function factsAt(inputs: QueueInputs, now: number): FactsSnapshot {
  const staff = new Staff(inputs.staff);
  const hours = hoursAt(inputs, now);
  const facts = new Map<QueueId, QueueFacts>();
  const openings = new Map<QueueId, number>();
  for (const row of inputs.rows) {
    const { open, changeAt } =
      (row.scheduling_policy_id === null ? null : hours.get(row.scheduling_policy_id)) ?? always;
    facts.set(row.id, { ...factsOf(row, staff), open, visitors: inputs.counts.get(row.id)?.visitors ?? 0 });
    if (!open && changeAt !== null) openings.set(row.id, changeAt);
  }
  const changes = [...hours.values()].map(({ changeAt }) => changeAt ?? Infinity);
  return { facts, openings, hoursChangeAt: changes.reduce((first, at) => Math.min(first, at), Infinity) };
}

interface HoursNow {
  readonly open: boolean;
  /** When the hours next begin or end; null: never. */
  readonly changeAt: number | null;
}

const always: HoursNow = { open: true, changeAt: null };

function hoursAt({ hours }: QueueInputs, now: number): Map<SchedulingPolicyId, HoursNow> {
  return new Map(
    [...hours].map(([id, compiled]) => [id, { open: isOpen(compiled, now), changeAt: nextChange(compiled, now) }]),
  );
}

function factsOf(row: QueueRow, staff: Staff): Omit<QueueFacts, 'open' | 'visitors'> {
  const media = mediaOf(row);
  const { team_ids: teamIds = [] } = row.routing_policy;
  const { operators, media: staffedMedia } = staff.of({ siteId: row.site_id, teamIds, media });
  return {
    id: row.id,
    fallback_queue_id: row.fallback_queue_id,
    capacity_policy: row.capacity_policy,
    when_unstaffed: row.when_unstaffed,
    media,
    staff: operators,
    staffedMedia,
  };
}

/** The fields of a queue that follow from its facts. */
type ComputedFields = Omit<QueueOutput, keyof ShownQueue>;

export function computedFields(
  { staff }: QueueFacts,
  { self_status, status, capacity, media }: EvaluatedQueue,
  count: QueueCount | undefined,
): ComputedFields {
  return {
    capacity,
    available_properties: { media: [...media] },
    status,
    self_status,
    staffed: staff > 0,
    visitors_count: count?.visitors ?? 0,
    average_wait_time: Math.round((count?.average_wait ?? 0) * 1000) / 1000,
  };
}
