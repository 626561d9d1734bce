import { media, type Medium } from '@usher/contract/media';
import fc from 'fast-check';
import type { OperatorId, QueueId, SiteId, TeamId, VisitorId } from '../../../packages/server/src/platform/ids.ts';
import type { Party } from '../../../packages/server/src/identity/party.ts';
import type { QueueSettings } from '../../../packages/server/src/routing/board/structures/state.ts';
import { hoursOf } from './desk.ts';

/** Random accounts and random histories for `model.test.ts`. Queues, operators, tickets and so on are chosen by index. */

export const names = {
  sites: ['site-a', 'site-b'] as SiteId[],
  teams: ['team-1', 'team-2'] as TeamId[],
  queues: ['queue-1', 'queue-2', 'queue-3', 'queue-4', 'queue-5'] as QueueId[],
  operators: ['ann', 'ben', 'cat', 'dan', 'eve'] as OperatorId[],
  visitors: ['una', 'vic', 'wes', 'xan', 'yve', 'zac', 'zed', 'zoe'] as VisitorId[],
};

/** Opening hours that change around the instant at which a history begins. */
const weeks = [
  hoursOf(['09:00', '17:00']),
  hoursOf(['08:00', '08:58'], ['09:02', '09:10']),
  hoursOf(['08:50', '09:00'], ['09:01', '12:00']),
  hoursOf(['00:00', '08:56']),
];

function mostly<Value>(value: Value, weight: number, otherwise: fc.Arbitrary<Value>): fc.Arbitrary<Value> {
  return fc.oneof({ weight, arbitrary: fc.constant(value) }, { weight: 1, arbitrary: otherwise });
}

const which = fc.nat({ max: 5 });
const visitor = fc.nat({ max: 7 });
const medium = mostly<Medium>('text', 4, fc.constantFrom(...media));
const mediaSet = mostly(15, 5, fc.nat({ max: 15 }));
const teams = mostly<TeamId[]>([], 3, fc.subarray(names.teams));
const teamsOfStaff = mostly<TeamId[]>([...names.teams], 3, fc.subarray(names.teams));
const seconds = fc.constantFrom(0, 1, 5, 15, 30, 45, 60, 90, 300);
const valid = mostly(true, 7, fc.constant(false));
const side = fc.constantFrom('visitor', 'operator');
const address = fc.constantFrom(null, null, 'home', 'office');

const site = fc.record({
  reactiveMs: fc.constantFrom(30_000, 20_000),
  proactiveMs: fc.constant(15_000),
  missedMakesUnavailable: fc.boolean(),
  callsBesideChats: fc.boolean(),
  ticketTimeoutMs: fc.constantFrom(14_400_000, 14_400_000, 90_000, 45_000),
  openPerAddress: fc.constantFrom(1, 2, 50),
  ticketNeedsPresence: fc.constantFrom(false, false, true),
});

const capacityPolicy = fc.oneof(
  fc.record({ type: fc.constant('fixed' as const), capacity: fc.constantFrom(0, 1, 2, 3, 50, 50, 50) }),
  fc.record({ type: fc.constant('variable' as const), multiplier: fc.constantFrom(0.5, 1, 2, 5) }),
);

const rank = fc.tuple(fc.constantFrom(...names.operators), fc.integer({ min: 1, max: 3 }));

const queue: fc.Arbitrary<QueueSettings> = fc.record({
  id: fc.constantFrom(...names.queues),
  siteId: fc.constantFrom('site-a' as SiteId, ...names.sites),
  media: mediaSet,
  teams,
  capacityPolicy,
  whenUnstaffed: fc.constantFrom('accept', 'reject'),
  rankingEnabled: fc.boolean(),
  ranks: fc.array(rank).map((ranks) => new Map(ranks)),
  affinityMs: fc.constantFrom(null, 20_000, 60_000, 120_000),
  fallbackId: fc.option(fc.constantFrom(...names.queues)),
  hours: mostly<QueueSettings['hours']>(null, 2, fc.constantFrom(...weeks)),
  welcomeMessage: fc.constantFrom(null, 'Hello', ''),
});

const operator = fc.record({
  id: fc.constantFrom(...names.operators),
  enabled: mostly(true, 9, fc.constant(false)),
  onA: fc.option(teamsOfStaff, { freq: 8 }),
  onB: fc.option(teamsOfStaff, { freq: 2 }),
  maxEngagements: fc.integer({ min: 1, max: 3 }),
  available: mostly(true, 6, fc.constant(false)),
  media: mediaSet,
  leaseSec: mostly<number | null>(null, 4, seconds),
});

const enqueue = fc.record({
  do: fc.constant('enqueue'),
  visitor,
  site: fc.constantFrom(0, 0, 1),
  medium,
  queues: fc.option(fc.array(which, { minLength: 1, maxLength: 3 }), { freq: 3 }),
  requiredTeams: teams,
  last: fc.option(which, { freq: 2 }),
  address,
});
const cancelTicket = fc.record({ do: fc.constant('cancelTicket'), which, valid, by: side });
const requestDirectly = fc.record({
  do: fc.constant('requestDirectly'),
  visitor,
  operator: which,
  site: fc.constantFrom(0, 0, 0, 1),
  /** The site that the visitor is on. */
  on: fc.constantFrom(0, 0, 0, 1),
  medium,
  origin: side,
  /** Whether an operator's request is sent to the visitor's phone by SMS. */
  byPhone: fc.constantFrom(false, false, true),
  address,
});
const answer = fc.record({
  do: fc.constant('answer'),
  which,
  action: fc.constantFrom('accept', 'accept', 'accept', 'decline', 'cancel'),
  valid,
  error: fc.constantFrom(null, null, null, { message: null }, { message: 'It broke.' }),
});
const transferToOperator = fc.record({
  do: fc.constant('transferToOperator'),
  which,
  valid,
  operator: which,
  medium: fc.option(medium),
});
const transferToQueue = fc.record({ do: fc.constant('transferToQueue'), which, valid, queue: which, medium });
const end = fc.record({ do: fc.constant('end'), which, valid, by: side, error: fc.boolean() });
const acceptUpgrade = fc.record({
  do: fc.constant('acceptUpgrade'),
  which,
  valid,
  by: side,
  pending: valid,
  video: fc.boolean(),
});
const endCall = fc.record({ do: fc.constant('endCall'), which, valid, by: side });
const setPresence = fc.record({
  do: fc.constant('setPresence'),
  operator: which,
  available: valid,
  media: fc.option(mediaSet, { freq: 1 }),
  leaseSec: mostly<number | null>(null, 2, seconds),
});
const renewPresence = fc.record({ do: fc.constant('renewPresence'), operator: which, visitor });
const outage = fc.record({
  do: fc.constant('outage'),
  sec: fc.constantFrom(5, 24, 35, 75, 300),
  /** Whether the process was restarted meanwhile. */
  restarted: fc.boolean(),
});
const setVisitorPresence = fc.record({ do: fc.constant('setVisitorPresence'), visitor, leaseSec: seconds });

const action = fc.oneof(
  { weight: 13, arbitrary: enqueue },
  { weight: 2, arbitrary: cancelTicket },
  { weight: 4, arbitrary: requestDirectly },
  { weight: 11, arbitrary: answer },
  { weight: 5, arbitrary: transferToOperator },
  { weight: 4, arbitrary: transferToQueue },
  { weight: 3, arbitrary: end },
  { weight: 2, arbitrary: acceptUpgrade },
  { weight: 2, arbitrary: endCall },
  { weight: 6, arbitrary: setPresence },
  { weight: 2, arbitrary: setVisitorPresence },
  { weight: 4, arbitrary: renewPresence },
  { weight: 2, arbitrary: outage },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('tick') }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('putQueue'), settings: queue }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('putOperator'), input: operator }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('putSite'), which: fc.nat({ max: 1 }), settings: site }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('dropQueue'), which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('dropOperator'), which }) },
  // Another process takes over: one that has followed all changes, or one that has just loaded its board.
  { weight: 2, arbitrary: fc.record({ do: fc.constant('otherProcess') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reload') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('stepClock'), days: fc.constantFrom(-40, -1, 1, 40) }) },
);

/** Seconds, or `due` for the board's next deadline. */
const wait = fc.oneof(
  { weight: 20, arbitrary: fc.constant(0) },
  { weight: 10, arbitrary: fc.constantFrom(1, 5, 10) },
  { weight: 2, arbitrary: fc.constantFrom(15, 30, 60) },
  { weight: 1, arbitrary: fc.constantFrom(60, 240, 3_600, 28_800) },
  { weight: 2, arbitrary: fc.constant('due' as const) },
);

export const history = fc.record({
  sites: fc.tuple(site, site),
  queues: fc.uniqueArray(queue, { minLength: 2, maxLength: 5, selector: ({ id }) => id }),
  operators: fc.uniqueArray(operator, { minLength: 2, maxLength: 4, selector: ({ id }) => id }),
  steps: fc.array(fc.record({ wait, action }), { minLength: 1, maxLength: 80, size: 'max' }),
});

type Generated<Arbitrary> = Arbitrary extends fc.Arbitrary<infer Value> ? Value : never;
export type History = Generated<typeof history>;
export type Step = History['steps'][number];
export type Action<Kind extends Step['action']['do'] = Step['action']['do']> = Extract<
  Step['action'],
  { readonly do: Kind }
>;
export type OperatorInput = Generated<typeof operator>;
export type SiteInput = Generated<typeof site>;

export function nth<Item>(items: readonly Item[], which: number): Item {
  return items[which % Math.max(items.length, 1)] as Item;
}

export function operatorParty(id: OperatorId | undefined): Party {
  return { kind: 'operator', id: id ?? ('none' as OperatorId) };
}

export function visitorParty(id: VisitorId | undefined): Party {
  return { kind: 'visitor', id: id ?? ('none' as VisitorId) };
}
