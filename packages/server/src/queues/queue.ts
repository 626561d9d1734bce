import { maxAffinitySec } from '@usher/contract/limits';
import { media, type Medium } from '@usher/contract/media';
import { welcomeFaults } from '@usher/contract/response-card';
import { queueStatuses, unstaffedRules, type UnstaffedRule } from '@usher/contract/states';
import Type from 'typebox';
import type { Violation } from '../platform/errors.ts';
import type { AccountId, QueueId, SchedulingPolicyId, SiteId, TeamId } from '../platform/ids.ts';
import {
  body,
  checked,
  description,
  list,
  mediumList,
  name,
  nullable,
  nullAsAbsent,
  oneOf,
  output,
  put,
  timestamp,
  uuid,
} from '../platform/schema.ts';
import type { CapacityPolicy } from './status.ts';

const capacityPolicy = Type.Unsafe<CapacityPolicy>(
  checked(
    body({
      type: oneOf(['fixed', 'variable'] as const),
      capacity: Type.Optional(
        nullAsAbsent(Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1, description: 'With fixed: visitors at a time' })),
      ),
      multiplier: Type.Optional(
        nullAsAbsent(
          Type.Number({
            exclusiveMinimum: 0,
            description: 'With variable: times the operators staffing the queue, rounded down',
          }),
        ),
      ),
    }),
    capacityViolations,
  ),
);

/** Each type has its own field and not the other's. A field that is null is as good as left out. */
function capacityViolations(value: unknown): Violation[] {
  if (typeof value !== 'object' || value === null || !('type' in value)) return [];
  const policy = value as Record<string, unknown>;
  if (policy['type'] !== 'fixed' && policy['type'] !== 'variable') return [];
  const { type } = policy;
  const [own, other] = type === 'fixed' ? ['capacity', 'multiplier'] : ['multiplier', 'capacity'];
  const isGiven = (field: string): boolean => policy[field] !== undefined && policy[field] !== null;
  return [
    ...(isGiven(own) ? [] : [{ attribute: `/${own}`, detail: `is required with the type ${type}` }]),
    ...(isGiven(other) ? [{ attribute: `/${other}`, detail: `does not go with the type ${type}` }] : []),
  ];
}

const routingPolicy = body({
  media: Type.Optional(Type.Unsafe<Medium[]>({ ...list(oneOf(media)), description: 'A set; none: every medium' })),
  team_ids: Type.Optional(
    Type.Unsafe<TeamId[]>({ ...list(uuid<'team'>()), description: 'A set; none: every visitor' }),
  ),
});

const affinity = body({
  time_window_sec: Type.Integer({ minimum: 1, maximum: maxAffinitySec }),
});

const whenUnstaffed = oneOf(unstaffedRules);
const welcomeMessage = Type.String({
  description: 'Text, or a response card as JSON; 16 KiB at most. An empty text means not set',
});

function welcomeViolations(text: unknown): Violation[] {
  return typeof text === 'string' ? welcomeFaults(text).map((detail) => ({ attribute: '', detail })) : [];
}

export const queueFields = {
  name,
  description: Type.Optional(nullable(description)),
  capacity: Type.Optional(nullable(Type.Integer({ description: 'Deprecated and ignored: use capacity_policy' }))),
  capacity_policy: capacityPolicy,
  routing_policy: routingPolicy,
  when_unstaffed: Type.Optional(nullable(whenUnstaffed)),
  operator_ranking_enabled: Type.Optional(nullable(Type.Boolean())),
  welcome_message: Type.Optional(checked(nullable(welcomeMessage), welcomeViolations)),
  scheduling_policy_id: Type.Optional(nullable(uuid<'scheduling_policy'>())),
  fallback_queue_id: Type.Optional(nullable(uuid<'queue'>())),
  operator_affinity: Type.Optional(nullable(affinity)),
};

const readOnly = [
  'id',
  'available_properties',
  'status',
  'self_status',
  'staffed',
  'visitors_count',
  'average_wait_time',
  'created_at',
  'updated_at',
];

export const queueInput = body({ site_id: uuid<'site'>(), ...queueFields });
export const queueUpdate = put({ ...queueFields, site_id: Type.Optional(uuid<'site'>()) }, readOnly);

export const queueStatus = oneOf(queueStatuses);

export const queueOutput = output('Queue', {
  id: uuid<'queue'>(),
  site_id: uuid<'site'>(),
  name,
  description: nullable(description),
  capacity: Type.Integer({ description: 'Effective capacity now' }),
  capacity_policy: Type.Object({
    type: oneOf(['fixed', 'variable'] as const),
    capacity: Type.Optional(Type.Integer()),
    multiplier: Type.Optional(Type.Number()),
  }),
  routing_policy: Type.Object({
    media: Type.Optional(mediumList),
    team_ids: Type.Optional(Type.Array(uuid<'team'>())),
  }),
  available_properties: Type.Object({ media: mediumList }),
  status: queueStatus,
  self_status: queueStatus,
  when_unstaffed: whenUnstaffed,
  operator_ranking_enabled: Type.Boolean(),
  welcome_message: nullable(welcomeMessage),
  scheduling_policy_id: nullable(uuid<'scheduling_policy'>()),
  fallback_queue_id: nullable(uuid<'queue'>()),
  operator_affinity: nullable(affinity),
  staffed: Type.Boolean({ description: 'Whether an operator who can serve it is available now, busy or not' }),
  visitors_count: Type.Integer({
    description: 'Visitors waiting in the queue now, including those offered to an operator or transferred to it',
  }),
  average_wait_time: Type.Number({
    description: 'Seconds, mean of the last 100 visitors who left it for an engagement',
  }),
  created_at: timestamp,
  updated_at: timestamp,
});

export type QueueOutput = Type.Static<typeof queueOutput>;
export type QueueGiven = Type.Static<typeof queueUpdate>;

/** What is written of a queue; its status and counts are evaluated. */
export interface StoredQueue {
  readonly name: string;
  readonly description: string | null;
  readonly capacity_policy: CapacityPolicy;
  readonly routing_policy: { readonly media?: Medium[]; readonly team_ids?: TeamId[] };
  readonly when_unstaffed: UnstaffedRule;
  readonly operator_ranking_enabled: boolean;
  readonly welcome_message: string | null;
  readonly scheduling_policy_id: SchedulingPolicyId | null;
  readonly fallback_queue_id: QueueId | null;
  readonly operator_affinity: { readonly time_window_sec: number } | null;
}

export interface QueueRow extends StoredQueue {
  readonly id: QueueId;
  readonly account_id: AccountId;
  readonly site_id: SiteId;
  readonly version: number;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const unset: Omit<StoredQueue, 'name' | 'capacity_policy' | 'routing_policy'> = {
  description: null,
  when_unstaffed: 'reject',
  operator_ranking_enabled: false,
  welcome_message: null,
  scheduling_policy_id: null,
  fallback_queue_id: null,
  operator_affinity: null,
};

/** D7.2: an optional field left out keeps its value (or is unset, in a new queue); null unsets it. */
export function completeQueue(given: QueueGiven, current: StoredQueue | null): StoredQueue {
  const before = current ?? unset;
  const keep = <Field extends keyof typeof unset>(field: Field): (typeof unset)[Field] =>
    given[field] === undefined ? before[field] : ((given[field] ?? unset[field]) as (typeof unset)[Field]);
  return {
    name: given.name,
    capacity_policy: given.capacity_policy,
    routing_policy: normalizeRouting(given.routing_policy),
    description: keep('description'),
    when_unstaffed: keep('when_unstaffed'),
    operator_ranking_enabled: keep('operator_ranking_enabled'),
    // An empty text greets nobody: it means not set.
    welcome_message: keep('welcome_message') || null,
    scheduling_policy_id: keep('scheduling_policy_id'),
    fallback_queue_id: keep('fallback_queue_id'),
    operator_affinity: keep('operator_affinity'),
  };
}

/** Sets, as the document calls them: without duplicates, media in their usual order. */
function normalizeRouting({
  media: given,
  team_ids: teams,
}: StoredQueue['routing_policy']): StoredQueue['routing_policy'] {
  return {
    ...(given === undefined ? {} : { media: media.filter((medium) => given.includes(medium)) }),
    ...(teams === undefined ? {} : { team_ids: [...new Set(teams)] }),
  };
}

/** The media a queue takes: an empty set restricts nothing, as none does. */
export function mediaOf({ routing_policy: { media: given = [] } }: StoredQueue): readonly Medium[] {
  return given.length === 0 ? media : given;
}
