import { maxAffinitySec } from '@usher/contract/limits';
import { media, type Medium } from '@usher/contract/media';
import { welcomeFaults } from '@usher/contract/response-card';
import { queueStatuses, unstaffedRules } from '@usher/contract/states';
import Type from 'typebox';
import type { Violation } from '../platform/errors.ts';
import { assigned, computed, fieldsOf, fixed, internal, optional, required } from '../platform/database/fields.ts';
import type { RowOf, SettingsOf, ShownOf } from '../platform/database/fields.ts';
import type { AccountId, TeamId } from '../platform/ids.ts';
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
        nullAsAbsent(
          Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1, description: 'With fixed: the most visitors at a time' }),
        ),
      ),
      multiplier: Type.Optional(
        nullAsAbsent(
          Type.Number({
            exclusiveMinimum: 0,
            description: 'With variable: visitors per staffing operator; the product is rounded down',
          }),
        ),
      ),
    }),
    capacityViolations,
  ),
);

/** Each type requires its own field and excludes the other's. A field that is null counts as left out. */
function capacityViolations(value: unknown): Violation[] {
  if (typeof value !== 'object' || value === null || !('type' in value)) return [];
  const policy = value as Record<string, unknown>;
  if (policy['type'] !== 'fixed' && policy['type'] !== 'variable') return [];
  const { type } = policy;
  const [own, other] = type === 'fixed' ? ['capacity', 'multiplier'] : ['multiplier', 'capacity'];
  const isGiven = (field: string): boolean => policy[field] !== undefined && policy[field] !== null;
  return [
    ...(isGiven(own) ? [] : [{ attribute: `/${own}`, detail: `is required with the type ${type}` }]),
    ...(isGiven(other) ? [{ attribute: `/${other}`, detail: `is not allowed with the type ${type}` }] : []),
  ];
}

const routingPolicy = body({
  media: Type.Optional(
    Type.Unsafe<Medium[]>({ ...list(oneOf(media)), description: 'A set of media; empty or left out: every medium' }),
  ),
  team_ids: Type.Optional(
    Type.Unsafe<TeamId[]>({
      ...list(uuid<'team'>()),
      description: 'A set of teams of visitors and operators; empty or left out: no restriction',
    }),
  ),
});

const capacityOutput = Type.Unsafe<CapacityPolicy>(
  Type.Object({
    type: oneOf(['fixed', 'variable'] as const),
    capacity: Type.Optional(Type.Integer()),
    multiplier: Type.Optional(Type.Number()),
  }),
);

const routingOutput = Type.Object({
  media: Type.Optional(mediumList),
  team_ids: Type.Optional(Type.Array(uuid<'team'>())),
});

const welcomeMessage = Type.String({
  description: 'Text, or a response card as JSON; at most 16 KiB. An empty text unsets it',
});

function welcomeViolations(text: unknown): Violation[] {
  return typeof text === 'string' ? welcomeFaults(text).map((detail) => ({ attribute: '', detail })) : [];
}

export const queueStatus = oneOf(queueStatuses);

const table = {
  id: assigned(uuid<'queue'>()),
  account_id: internal<AccountId>(),
  site_id: fixed(uuid<'site'>()),
  name: required(name),
  description: optional(description, null),
  capacity: computed(Type.Integer({ description: 'Effective capacity now' }), {
    input: Type.Optional(nullable(Type.Integer({ description: 'Deprecated and ignored: use capacity_policy' }))),
  }),
  capacity_policy: required(capacityPolicy, { output: capacityOutput, stored: 'json' }),
  routing_policy: required(routingPolicy, { output: routingOutput, stored: 'json' }),
  available_properties: computed(Type.Object({ media: mediumList })),
  status: computed(queueStatus),
  self_status: computed(queueStatus),
  when_unstaffed: optional(oneOf(unstaffedRules), 'reject'),
  operator_ranking_enabled: optional(Type.Boolean(), false),
  welcome_message: optional(welcomeMessage, null, { rules: welcomeViolations }),
  scheduling_policy_id: optional(uuid<'scheduling_policy'>(), null),
  fallback_queue_id: optional(uuid<'queue'>(), null),
  operator_affinity: optional(body({ time_window_sec: Type.Integer({ minimum: 1, maximum: maxAffinitySec }) }), null, {
    stored: 'json',
  }),
  staffed: computed(
    Type.Boolean({ description: 'Whether an operator who can serve the queue is available now, busy or not' }),
  ),
  visitors_count: computed(
    Type.Integer({
      description: 'Visitors waiting in the queue now, including those offered to an operator or transferred to it',
    }),
  ),
  average_wait_time: computed(
    Type.Number({ description: 'Mean wait in seconds of the last 100 visitors who left the queue for an engagement' }),
  ),
  version: internal<number>(),
  created_at: assigned(timestamp),
  updated_at: assigned(timestamp),
};

export const queueFields = fieldsOf(table);
export const queueInput = body(queueFields.create);
export const queueUpdate = put(queueFields.update, queueFields.readOnly);
export const queueOutput = output('Queue', queueFields.output);

export type QueueOutput = Type.Static<typeof queueOutput>;
export type QueueGiven = Type.Static<typeof queueUpdate>;
export type QueueRow = RowOf<typeof table>;
export type ShownQueue = ShownOf<typeof table>;
/** The fields that requests set; status and counts are computed. */
export type StoredQueue = SettingsOf<typeof table>;

export function completeQueue(given: QueueGiven, current: StoredQueue | null): StoredQueue {
  const queue = queueFields.complete(given, current);
  // An empty text is stored as null.
  const welcome_message = queue.welcome_message || null;
  return { ...queue, welcome_message, routing_policy: normalizeRouting(queue.routing_policy) };
}

/** Media and teams are sets: removes duplicates, and sorts media in their usual order. */
function normalizeRouting({
  media: given,
  team_ids: teams,
}: StoredQueue['routing_policy']): StoredQueue['routing_policy'] {
  return {
    ...(given === undefined ? {} : { media: media.filter((medium) => given.includes(medium)) }),
    ...(teams === undefined ? {} : { team_ids: [...new Set(teams)] }),
  };
}

/** The media of a queue: all of them if its routing policy names none. */
export function mediaOf({ routing_policy: { media: given = [] } }: StoredQueue): readonly Medium[] {
  return given.length === 0 ? media : given;
}
