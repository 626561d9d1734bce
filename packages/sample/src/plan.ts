import { elapsed, type Action, type Clock, type Sides } from './action.ts';
import { chance, pick, poisson } from './chance.ts';
import { conversation } from './converse.ts';
import type { Actor } from './host.ts';
import { players, queues, visitorNames } from './scene.ts';
import type { World, WorldEngagement, WorldOperator, WorldRequest } from './world.ts';

/** So many visitors of ours at a time, waiting or engaged; whoever would come then does not. */
export const mostVisitors = 40;
/** Arrivals are looked back for no longer than this, of the sample's time: those of a pause do not come all at once. */
const longestGapSec = 5;

export const breakReason = 'On a break (sample)';
export const stoppedReason = 'The sample data is stopped';
/** As the board says it of one who let an offer pass. */
const missedReason = 'missed_call';

/** What happens now: nothing but the world, the time and the seed decide it. Those who are real are left to themselves. */
export function plan(world: World, clock: Clock): Action[] {
  return [
    ...world.operators.flatMap((operator) => presence(world, operator, clock)),
    ...arrivals(world, clock),
    ...world.tickets.flatMap((ticket) =>
      ticket.ours && elapsed(clock, ticket.enqueuedAt) > patience(clock, ticket.id)
        ? [{ key: `give up ${ticket.id}`, do: 'give up', ticketId: ticket.id, visitorId: ticket.visitorId } as const]
        : [],
    ),
    ...world.requests.flatMap((request) => answer(world, request, clock)),
    ...world.engagements.flatMap((engagement) => engaged(world, engagement, clock)),
  ];
}

/** Visitors a minute: few at night, most around noon and in the evening. `now` is the real time of day, in UTC. */
export function arrivalsPerMinute(now: number): number {
  const hour = (now / 3_600_000) % 24;
  const bump = (at: number, width: number): number => Math.exp(-(((hour - at) / width) ** 2));
  return 8 + 9 * bump(11.5, 3) + 7 * bump(19, 2.5);
}

function arrivals(world: World, clock: Clock): Action[] {
  const { seed, now, since, speed } = clock;
  const slot = (at: number): number => Math.floor((at / 1000) * speed);
  const here = [...world.tickets, ...world.engagements].filter(({ ours }) => ours).length;
  const found: Action[] = [];
  const last = slot(now);
  for (let second = Math.max(slot(since), last - longestGapSec) + 1; second <= last; second += 1) {
    const count = poisson(arrivalsPerMinute(now) / 60, chance(seed, 'arrivals', second));
    for (let index = 0; index < count && here + found.length < mostVisitors; index += 1) {
      const wish = wishOf(world, (what) => chance(seed, what, second, index));
      if (wish !== null) found.push({ key: `arrive ${second} ${index}`, do: 'arrive', ...wish });
    }
  }
  return found;
}

function wishOf(world: World, drawn: (what: string) => number) {
  const whole = queues.reduce((sum, { share }) => sum + share, 0);
  let rest = drawn('queue') * whole;
  const wanted = queues.find(({ share }) => (rest -= share) < 0);
  // Renamed or deleted by the user: then any other will do.
  const queue = world.queues.find(({ name }) => name === wanted?.name) ?? world.queues[0];
  if (queue === undefined) return null;
  const [first = 'text', ...others] = queue.media;
  const media = pick([first, first, first, ...others], drawn('media'));
  // A queue with teams takes visitors of these alone; ours may be helped, and handed on, by any.
  return { queueId: queue.id, media, name: pick(visitorNames, drawn('name')), teams: world.teams };
}

/** Some leave almost at once. */
function patience({ seed }: Clock, id: string): number {
  const long = chance(seed, 'patience', id);
  return chance(seed, 'impatient', id) < 0.15 ? 3 + 5 * long : 25 + 95 * long;
}

/** Leases are in real time: whoever stops acting leaves nobody at a desk for longer. */
export const presenceSec = 90;
const renewBeforeMs = 45_000;
const breakEverySec = 480;
const awayAfterMissSec = 20;

/** On and off break; and when somebody real is there, one of each team is enough, so that some visitors are left for them. */
function presence({ operators }: World, operator: WorldOperator, clock: Clock): Action[] {
  const player = operator.player === null ? undefined : players[operator.player];
  if (player === undefined || !operator.enabled) return [];
  const someoneReal = operators.some((other) => other.player === null && other.available);
  const wanted = (player.stays || !someoneReal) && !isOnBreak(operator, clock);
  const { id: operatorId, available, saidAt, expiresAt } = operator;
  const said = { do: 'be present', operatorId, media: player.media } as const;
  if (available && !wanted) {
    return [{ ...said, key: `break ${operatorId} ${saidAt}`, available: false, reason: breakReason }];
  }
  if (!wanted || (available && (expiresAt === null || expiresAt - clock.now > renewBeforeMs))) return [];
  const isBack = available || mayReturn(operator, clock);
  return isBack
    ? [{ ...said, key: `present ${operatorId} ${expiresAt} ${saidAt}`, available: true, reason: null }]
    : [];
}

function isOnBreak({ id }: WorldOperator, { seed, now, speed }: Clock): boolean {
  const lasts = 60 + 60 * chance(seed, 'break lasts', id);
  const at = ((now / 1000) * speed + breakEverySec * chance(seed, 'break begins', id)) % breakEverySec;
  return at < lasts;
}

/** Whoever was sent away by a user stays away. */
function mayReturn({ reason, saidAt, expiresAt, available }: WorldOperator, clock: Clock): boolean {
  if (saidAt === null || available) return true;
  if (reason === missedReason) return elapsed(clock, saidAt) > awayAfterMissSec;
  if (reason === breakReason || reason === stoppedReason) return true;
  // What it said last has run out, as when nobody was acting for a while.
  return expiresAt !== null && expiresAt <= clock.now;
}

function answer({ operators }: World, request: WorldRequest, clock: Clock): Action[] {
  const { id: requestId, origin, operatorId, visitorId } = request;
  const given = { key: `answer ${requestId}`, do: 'answer', requestId, transfer: request.kind === 'transfer' } as const;
  const age = elapsed(clock, request.createdAt);
  const delay = 1 + 5 * chance(clock.seed, 'answer', requestId);
  if (origin === 'operator' && request.kind === 'direct') {
    if (!request.ours || age < delay) return [];
    return [{ ...given, as: { kind: 'visitor', id: visitorId }, answer: 'accept' }];
  }
  if (!operators.some(({ id, player }) => id === operatorId && player !== null)) return [];
  const as = { kind: 'operator', id: operatorId } as const;
  // Somebody else's visitor, come by a fallback of theirs: for somebody real to take.
  if (!request.ofSite) return [{ ...given, as, answer: 'decline' }];
  if (age < delay) return [];
  const fate = request.ours ? chance(clock.seed, 'fate', requestId) : 1;
  if (fate < 0.03) return []; // It passes.
  return [{ ...given, as, answer: fate < 0.08 ? 'decline' : 'accept' }];
}

function engaged(world: World, engagement: WorldEngagement, clock: Clock): Action[] {
  const { id: engagementId, last, upgrade } = engagement;
  const sides = sidesOf(world, engagement);
  const found: Action[] = [];
  const heard = last === null || last.arrived ? undefined : sides[last.from === 'visitor' ? 'operator' : 'visitor'];
  if (last !== null && heard !== undefined) {
    found.push({ key: `heard ${last.id}`, do: 'acknowledge', engagementId, as: heard, messageId: last.id });
  }
  const asked = upgrade?.pending === true ? sides[upgrade.target] : undefined;
  if (upgrade !== null && asked !== undefined && elapsed(clock, upgrade.createdAt) > 2) {
    found.push({ key: `upgrade ${upgrade.id}`, do: 'accept upgrade', engagementId, as: asked, upgradeId: upgrade.id });
  }
  const { visitor, operator } = sides;
  if (visitor !== undefined && operator !== undefined) found.push(...course(world, engagement, operator, clock));
  return [...found, ...conversation(engagement, sides, clock)];
}

function sidesOf({ operators }: World, { ours, visitorId, operatorId }: WorldEngagement): Sides {
  const isPlayer = operators.some(({ id, player }) => id === operatorId && player !== null);
  return {
    ...(ours ? { visitor: { kind: 'visitor', id: visitorId } as const } : {}),
    ...(isPlayer ? { operator: { kind: 'operator', id: operatorId } as const } : {}),
  };
}

/** Between two of ours: some go over to audio, some are handed on. */
function course(world: World, engagement: WorldEngagement, as: Actor, clock: Clock): Action[] {
  const { id: engagementId, media, upgrade, startedAt, handedOn, handing, queueId } = engagement;
  const age = elapsed(clock, startedAt);
  const lot = chance(clock.seed, 'course', engagementId);
  if (media !== 'text' || age < 10) return [];
  if (lot < 0.12 && upgrade === null) {
    return [{ key: `audio ${engagementId}`, do: 'ask for audio', engagementId, as }];
  }
  if (lot < 0.12 || lot > 0.26 || handedOn || handing) return [];
  const others = world.queues.filter((queue) => queue.id !== queueId && queue.media.includes('text'));
  const [first, ...rest] = others;
  if (first === undefined) return [];
  const to = pick([first, ...rest], chance(clock.seed, 'to', engagementId));
  return [{ key: `hand on ${engagementId}`, do: 'hand on', engagementId, as, queueId: to.id, media: 'text' }];
}
