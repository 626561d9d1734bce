import type { Medium } from '@usher/contract/media';
import type { QueueId, SchedulingPolicyId } from '../platform/ids.ts';
import { isOpen, nextChange } from '../schedules/hours.ts';
import { mediaOf, type QueueOutput, type QueueRow, type ShownQueue } from './queue.ts';
import type { QueueSettings } from './site-settings.ts';
import { Staff, type StaffGroup } from './staff.ts';
import type { EvaluatedQueue, QueueFacts } from './status.ts';
import type { QueueCount } from './store.ts';

export type Counts = ReadonlyMap<QueueId, QueueCount>;

/** The facts of the queues at an instant, without visitor counts. They are valid until `validUntil` unless a row changes. */
export interface FactsSnapshot {
  readonly facts: ReadonlyMap<QueueId, StaticFacts>;
  /** The next opening of each queue that is outside its hours. */
  readonly openings: ReadonlyMap<QueueId, number>;
  readonly validUntil: number;
}

type StaticFacts = Omit<QueueFacts, 'visitors'>;

export function snapshotAt(settings: QueueSettings, groups: readonly StaffGroup[], now: number): FactsSnapshot {
  const staff = new Staff(groups);
  const hours = hoursAt(settings, now);
  const facts = new Map<QueueId, StaticFacts>();
  const openings = new Map<QueueId, number>();
  for (const row of settings.rows) {
    const { open, opensAt } =
      (row.scheduling_policy_id === null ? null : hours.get(row.scheduling_policy_id)) ?? always;
    facts.set(row.id, factsOf(row, staff, open));
    if (opensAt !== null) openings.set(row.id, opensAt);
  }
  return { facts, openings, validUntil: nextChangeByTime(settings, groups, now) };
}

interface HoursNow {
  readonly open: boolean;
  /** When the hours next begin, if they are over now; null: never. */
  readonly opensAt: number | null;
}

const always: HoursNow = { open: true, opensAt: null };

function hoursAt({ hours }: QueueSettings, now: number): Map<SchedulingPolicyId, HoursNow> {
  return new Map(
    [...hours].map(([id, compiled]) => {
      const open = isOpen(compiled, now);
      return [id, { open, opensAt: open ? null : nextChange(compiled, now) }];
    }),
  );
}

function factsOf(row: QueueRow, staff: Staff, open: boolean): StaticFacts {
  const media = mediaOf(row);
  const { team_ids: teamIds = [] } = row.routing_policy;
  const { operators, media: staffedMedia } = staff.of({ siteId: row.site_id, teamIds, media });
  return {
    id: row.id,
    fallback_queue_id: row.fallback_queue_id,
    open,
    capacity_policy: row.capacity_policy,
    when_unstaffed: row.when_unstaffed,
    media,
    staff: operators,
    staffedMedia,
  };
}

/** The next instant at which time alone changes the facts: the hours of a queue change, or an operator's lease ends. */
function nextChangeByTime({ hours }: QueueSettings, groups: readonly StaffGroup[], now: number): number {
  const hoursChanges = [...hours.values()].map((compiled) => nextChange(compiled, now) ?? Infinity);
  const leaseEnds = groups.map(({ expires_at }) => expires_at?.getTime() ?? Infinity);
  return [...hoursChanges, ...leaseEnds].reduce((first, at) => Math.min(first, at), Infinity);
}

export function withVisitors({ facts }: FactsSnapshot, counts: Counts): Map<QueueId, QueueFacts> {
  const counted = new Map<QueueId, QueueFacts>();
  for (const [id, fact] of facts) counted.set(id, { ...fact, visitors: counts.get(id)?.visitors ?? 0 });
  return counted;
}

/** The fields of a queue that follow from its facts. */
export type ComputedFields = Omit<QueueOutput, keyof ShownQueue>;

export function computedFields(
  { staff }: QueueFacts,
  { self_status, status, capacity, media }: EvaluatedQueue,
  count: QueueCount | undefined,
): ComputedFields {
  return {
    capacity,
    available_properties: propertiesOf(media),
    status,
    self_status,
    staffed: staff > 0,
    visitors_count: count?.visitors ?? 0,
    average_wait_time: Math.round((count?.average_wait ?? 0) * 1000) / 1000,
  };
}

/** One object for each set of media, which `mediaIn` has once, so that two outputs are compared by identity. */
const properties = new WeakMap<readonly Medium[], QueueOutput['available_properties']>();

function propertiesOf(media: readonly Medium[]): QueueOutput['available_properties'] {
  const known = properties.get(media);
  if (known !== undefined) return known;
  const made = { media: [...media] };
  properties.set(media, made);
  return made;
}
