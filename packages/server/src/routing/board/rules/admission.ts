import type { Medium } from '@usher/contract/media';
import type { QueueStatus, UnstaffedRule } from '@usher/contract/states';
import type { ErrorCode } from '../../../platform/errors.ts';
import { Refusal } from '../../../platform/errors.ts';
import type { TeamId } from '../../../platform/ids.ts';
import {
  admissionOf,
  fallbackChain,
  statusIgnoringCapacity,
  type AdmissionFacts,
  type StatusIgnoringCapacity,
} from '../../../queues/status.ts';
import type { Board } from '../board.ts';
import { takes } from '../structures/media.ts';
import { poolForTicket } from '../structures/board-pools.ts';
import { staffFor, staffOf } from '../structures/pools.ts';
import type { Pool, Queue } from '../structures/state.ts';

/** The visitor who wants to enter a queue. */
export interface Applicant {
  readonly medium: Medium;
  readonly visitorTeams: readonly TeamId[];
  readonly requiredTeams: readonly TeamId[];
}

/** Why a queue does not admit a visitor, least hopeful first. With several candidates the most hopeful is reported (D3.3). */
const obstacles = ['no_matching_queue', 'queue_closed', 'queue_unstaffed', 'queue_full'] as const;
type Obstacle = (typeof obstacles)[number] & ErrorCode;

const obstacleTexts: Readonly<Record<Obstacle, string>> = {
  no_matching_queue: 'does not match the media or the teams of the visitor',
  queue_closed: 'is closed',
  queue_unstaffed: 'has no available operator for this visitor',
  queue_full: 'is full',
};

export function currentStatus(queue: Queue): StatusIgnoringCapacity {
  return statusIgnoringCapacity(factsOf(queue));
}

/** D1.2: the status of the queue without its fallbacks. */
export function fullStatus(queue: Queue): QueueStatus {
  return admissionOf(factsOf(queue));
}

function factsOf({ open, pool, visitors, settings }: Queue): AdmissionFacts {
  const { media, whenUnstaffed, capacityPolicy } = settings;
  return { open, staff: staffOf(pool, media), whenUnstaffed, capacityPolicy, visitors };
}

/** D1.2, D1.6 and D3.2: why the queue does not admit the visitor now; `null`: it does. */
function obstacleOf(board: Board, queue: Queue, applicant: Applicant): Obstacle | null {
  const { media, teams, whenUnstaffed } = queue.settings;
  const isInTeams = teams.length === 0 || hasOneOf(applicant.visitorTeams, teams);
  if (!takes(media, applicant.medium) || !isInTeams) return 'no_matching_queue';
  const status = fullStatus(queue);
  if (status !== 'opened') return `queue_${status}`;
  const pool = poolForTicket(board, queue, applicant.requiredTeams);
  return isServed(pool, media, applicant.medium, whenUnstaffed) ? null : 'queue_unstaffed';
}

function hasOneOf(own: readonly TeamId[], teams: readonly TeamId[]): boolean {
  for (const team of teams) if (own.includes(team)) return true;
  return false;
}

/** An operator of the pool takes the medium; or there is no operator at all, and the queue accepts that. */
function isServed(pool: Pool, media: number, medium: Medium, whenUnstaffed: UnstaffedRule): boolean {
  return staffOf(pool, media) === 0 ? whenUnstaffed === 'accept' : staffFor(pool, medium) > 0;
}

/** The fallbacks of a queue, in order. */
export function fallbacksOf(board: Board, queue: Queue): Queue[] {
  if (queue.settings.fallbackId === null) return [];
  const links = fallbackChain(queue, ({ settings: { fallbackId: id } }) =>
    id === null ? undefined : board.queues.get(id),
  );
  return links.slice(1);
}

export function admits(board: Board, queue: Queue, applicant: Applicant): boolean {
  return obstacleOf(board, queue, applicant) === null;
}

/** D3.2: resolves each candidate along its fallback chain to the first queue that admits the visitor. Throws if none does (D3.3). */
export function resolve(
  board: Board,
  candidates: readonly Queue[],
  applicant: Applicant,
  attributeOf: (index: number) => string,
): readonly Queue[] {
  const [only] = candidates;
  if (candidates.length === 1 && only !== undefined && admits(board, only, applicant)) return candidates;
  const found: Queue[] = [];
  for (const candidate of candidates) {
    const admitting = admits(board, candidate, applicant) ? candidate : admittingFallback(board, candidate, applicant);
    if (admitting !== undefined && !found.includes(admitting)) found.push(admitting);
  }
  if (found.length === 0) throw refusalOf(board, candidates, applicant, attributeOf);
  return found;
}

function admittingFallback(board: Board, candidate: Queue, applicant: Applicant): Queue | undefined {
  return fallbacksOf(board, candidate).find((queue) => admits(board, queue, applicant));
}

/** D3.3: why none of the candidates admits the visitor. */
function refusalOf(
  board: Board,
  candidates: readonly Queue[],
  applicant: Applicant,
  attributeOf: (index: number) => string,
): Refusal {
  const reasons = candidates.map((queue) => ({ queue, obstacle: obstacleOf(board, queue, applicant) ?? 'queue_full' }));
  const best = reasons.reduce((most, { obstacle }) => Math.max(most, obstacles.indexOf(obstacle)), 0);
  return new Refusal(obstacles[best] ?? 'no_matching_queue', 'No queue admits the visitor now. See the details.', {
    details: reasons.map(({ queue, obstacle }, index) => ({
      attribute: attributeOf(index),
      detail: `${obstacle}: queue ${queue.settings.id} ${obstacleTexts[obstacle]}`,
    })),
  });
}
