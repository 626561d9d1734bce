import { elapsed, type Action, type Clock, type Sides } from './action.ts';
import { chance, pick, poisson } from './chance.ts';
import { conversation } from './converse.ts';
import type { Actor } from './host.ts';
import { players, queues, visitorNames } from './scene.ts';
import type { World, WorldEngagement, WorldOperator, WorldRequest } from './world.ts';

/** Simulated visitors at a time, waiting or engaged. Further arrivals are dropped. */
export const maxVisitors = 40;
/** Arrivals of at most this many past simulated seconds are planned, so that a pause is not followed by a rush. */
const maxGapSec = 5;

export const breakReason = 'On a break (sample)';
export const stoppedReason = 'The sample data is stopped';
/** The reason that the board sets after a missed offer. */
const missedReason = 'missed_call';

/** The actions that are due now. Pure: they follow from the world, the time and the seed. Real people are never acted for. */
export function plan(world: World, clock: Clock): Action[] {
  return [
    ...world.operators.flatMap((operator) => presence(world, operator, clock)),
    ...arrivals(world, clock),
    ...world.tickets.flatMap((ticket) =>
      ticket.simulated && elapsed(clock, ticket.enqueuedAt) > patience(clock, ticket.id)
        ? [{ key: `give up ${ticket.id}`, do: 'abandon', ticketId: ticket.id, visitorId: ticket.visitorId } as const]
        : [],
    ),
    ...world.requests.flatMap((request) => answer(world, request, clock)),
    ...world.engagements.flatMap((engagement) => engaged(world, engagement, clock)),
  ];
}

/** Visitors per minute: few at night, most around noon and in the evening. `now` is the real time, in UTC. */
export function arrivalsPerMinute(now: number): number {
  const hour = (now / 3_600_000) % 24;
  const bump = (at: number, width: number): number => Math.exp(-(((hour - at) / width) ** 2));
  return 8 + 9 * bump(11.5, 3) + 7 * bump(19, 2.5);
}

function arrivals(world: World, clock: Clock): Action[] {
  const { seed, now, since, speed } = clock;
  const slot = (at: number): number => Math.floor((at / 1000) * speed);
  const present = [...world.tickets, ...world.engagements].filter(({ simulated }) => simulated).length;
  const found: Action[] = [];
  const last = slot(now);
  for (let second = Math.max(slot(since), last - maxGapSec) + 1; second <= last; second += 1) {
    const count = poisson(arrivalsPerMinute(now) / 60, chance(seed, 'arrivals', second));
    for (let index = 0; index < count && present + found.length < maxVisitors; index += 1) {
      const planned = visitorPlan(world, (what) => chance(seed, what, second, index));
      if (planned !== null) found.push({ key: `arrive ${second} ${index}`, do: 'arrive', ...planned });
    }
  }
  return found;
}

function visitorPlan(world: World, drawn: (what: string) => number) {
  const whole = queues.reduce((sum, { share }) => sum + share, 0);
  let rest = drawn('queue') * whole;
  const chosen = queues.find(({ share }) => (rest -= share) < 0);
  // If the user renamed or deleted the queue, any other is used.
  const queue = world.queues.find(({ name }) => name === chosen?.name) ?? world.queues[0];
  if (queue === undefined) return null;
  const [first = 'text', ...others] = queue.media;
  const media = pick([first, first, first, ...others], drawn('media'));
  // A queue with teams accepts only visitors of these teams. Simulated visitors are in all teams, so that every queue accepts them.
  return { queueId: queue.id, media, name: pick(visitorNames, drawn('name')), teams: world.teams };
}

/** Simulated seconds until a waiting visitor leaves. Some leave almost at once. */
function patience({ seed }: Clock, id: string): number {
  const long = chance(seed, 'patience', id);
  return chance(seed, 'impatient', id) < 0.15 ? 3 + 5 * long : 25 + 95 * long;
}

/** Presence leases are in real time. If the simulation stops, its operators are away when the leases expire. */
export const presenceSec = 90;
const renewBeforeMs = 45_000;
const breakEverySec = 480;
const awayAfterMissSec = 20;

/** Operators take breaks. While a real operator is available, only one per team stays, so that visitors are left for the real one. */
function presence({ operators }: World, operator: WorldOperator, clock: Clock): Action[] {
  const player = operator.player === null ? undefined : players[operator.player];
  if (player === undefined || !operator.enabled) return [];
  const hasRealOperator = operators.some((other) => other.player === null && other.available);
  const shouldWork = (player.stays || !hasRealOperator) && !isOnBreak(operator, clock);
  const { id: operatorId, available, setAt, expiresAt } = operator;
  const presenceOf = { do: 'set presence', operatorId, media: player.media } as const;
  if (available && !shouldWork) {
    return [{ ...presenceOf, key: `break ${operatorId} ${setAt}`, available: false, reason: breakReason }];
  }
  if (!shouldWork || (available && (expiresAt === null || expiresAt - clock.now > renewBeforeMs))) return [];
  const mayWork = available || mayReturn(operator, clock);
  return mayWork
    ? [{ ...presenceOf, key: `present ${operatorId} ${expiresAt} ${setAt}`, available: true, reason: null }]
    : [];
}

function isOnBreak({ id }: WorldOperator, { seed, now, speed }: Clock): boolean {
  const lasts = 60 + 60 * chance(seed, 'break lasts', id);
  const at = ((now / 1000) * speed + breakEverySec * chance(seed, 'break begins', id)) % breakEverySec;
  return at < lasts;
}

/** Whether the operator may become available again. An operator whom a user set to away stays away. */
function mayReturn({ reason, setAt, expiresAt, available }: WorldOperator, clock: Clock): boolean {
  if (setAt === null || available) return true;
  if (reason === missedReason) return elapsed(clock, setAt) > awayAfterMissSec;
  if (reason === breakReason || reason === stoppedReason) return true;
  // The lease has expired, as after a pause of the simulation.
  return expiresAt !== null && expiresAt <= clock.now;
}

function answer({ operators }: World, request: WorldRequest, clock: Clock): Action[] {
  const { id: requestId, origin, operatorId, visitorId } = request;
  const given = { key: `answer ${requestId}`, do: 'answer', requestId, transfer: request.kind === 'transfer' } as const;
  const age = elapsed(clock, request.createdAt);
  const delay = 1 + 5 * chance(clock.seed, 'answer', requestId);
  if (origin === 'operator' && request.kind === 'direct') {
    if (!request.simulated || age < delay) return [];
    return [{ ...given, as: { kind: 'visitor', id: visitorId }, answer: 'accept' }];
  }
  if (!operators.some(({ id, player }) => id === operatorId && player !== null)) return [];
  const as = { kind: 'operator', id: operatorId } as const;
  // A visitor of another site, who came by a fallback: only real operators serve them.
  if (!request.ofSite) return [{ ...given, as, answer: 'decline' }];
  if (age < delay) return [];
  const fate = request.simulated ? chance(clock.seed, 'fate', requestId) : 1;
  if (fate < 0.03) return []; // The offer times out.
  return [{ ...given, as, answer: fate < 0.08 ? 'decline' : 'accept' }];
}

function engaged(world: World, engagement: WorldEngagement, clock: Clock): Action[] {
  const { id: engagementId, last, upgrade } = engagement;
  const sides = sidesOf(world, engagement);
  const found: Action[] = [];
  const recipient = last === null || last.arrived ? undefined : sides[last.from === 'visitor' ? 'operator' : 'visitor'];
  if (last !== null && recipient !== undefined) {
    found.push({ key: `acknowledge ${last.id}`, do: 'acknowledge', engagementId, as: recipient, messageId: last.id });
  }
  const invited = upgrade?.pending === true ? sides[upgrade.target] : undefined;
  if (upgrade !== null && invited !== undefined && elapsed(clock, upgrade.createdAt) > 2) {
    found.push({
      key: `upgrade ${upgrade.id}`,
      do: 'accept upgrade',
      engagementId,
      as: invited,
      upgradeId: upgrade.id,
    });
  }
  const { visitor, operator } = sides;
  if (visitor !== undefined && operator !== undefined)
    found.push(...upgradeOrTransfer(world, engagement, operator, clock));
  return [...found, ...conversation(engagement, sides, clock)];
}

function sidesOf({ operators }: World, { simulated, visitorId, operatorId }: WorldEngagement): Sides {
  const isPlayer = operators.some(({ id, player }) => id === operatorId && player !== null);
  return {
    ...(simulated ? { visitor: { kind: 'visitor', id: visitorId } as const } : {}),
    ...(isPlayer ? { operator: { kind: 'operator', id: operatorId } as const } : {}),
  };
}

/** Between two simulated sides, some engagements switch to audio and some are transferred. */
function upgradeOrTransfer(world: World, engagement: WorldEngagement, as: Actor, clock: Clock): Action[] {
  const { id: engagementId, media, upgrade, startedAt, isTransferred, isTransferring, queueId } = engagement;
  const age = elapsed(clock, startedAt);
  const draw = chance(clock.seed, 'course', engagementId);
  if (media !== 'text' || age < 10) return [];
  if (draw < 0.12 && upgrade === null) {
    return [{ key: `audio ${engagementId}`, do: 'request audio', engagementId, as }];
  }
  if (draw < 0.12 || draw > 0.26 || isTransferred || isTransferring) return [];
  const others = world.queues.filter((queue) => queue.id !== queueId && queue.media.includes('text'));
  const [first, ...rest] = others;
  if (first === undefined) return [];
  const to = pick([first, ...rest], chance(clock.seed, 'to', engagementId));
  return [{ key: `transfer ${engagementId}`, do: 'transfer', engagementId, as, queueId: to.id, media: 'text' }];
}
