import type { RequestId, TicketId } from '../platform/ids.ts';
import type { Changes } from './board/structures/changes.ts';
import type { EndedEngagement } from './storage/engagement.ts';

/** The ids of changed rows, by kind. */
export interface ChangedIds {
  readonly sites?: readonly string[];
  readonly queues?: readonly string[];
  /** Queues whose counts or state changed, but not their configuration. */
  readonly queue_states?: readonly string[];
  readonly policies?: readonly string[];
  readonly operators?: readonly string[];
  /** Operators whose lease was renewed: their presence looks the same to readers. */
  readonly leases?: readonly string[];
  readonly visitors?: readonly string[];
  readonly tickets?: readonly string[];
  readonly requests?: readonly string[];
  readonly engagements?: readonly string[];
}

/** What one increment of the version of a board has changed. */
export interface TurnChanges extends ChangedIds {
  /** Of these rows: those that ended, which is final. They need not be read. Missing in moves of the version before. */
  readonly ended?: {
    readonly tickets: readonly TicketId[];
    readonly requests: readonly RequestId[];
    readonly engagements: readonly EndedEngagement[];
  };
}

/** One increment of the version of an account's board: the rows it changed, and the previous version. */
export interface BoardChange {
  readonly version: number;
  /** Versions jump with the first move in an epoch of the log. `null`: written by an older version of Usher. */
  readonly previous: number | null;
  /** Named like its column. */
  readonly things: TurnChanges;
}

/**
 * The rows that changed between two versions of the board; `null` if that is unknown. The moves must follow each other without a
 * gap: old moves are deleted, and a failover or a restored backup may lose the version that we start from.
 */
export function changesBetween(
  moves: readonly BoardChange[],
  { from, to }: { readonly from: number; readonly to: number },
): readonly TurnChanges[] | null {
  let reached = from;
  for (const { version, previous } of moves) {
    if ((previous ?? version - 1) !== reached) return null;
    reached = version;
  }
  return reached === to ? moves.map(({ things }) => things) : null;
}

/** The rows that a turn changes. */
export function changedBy(changes: Changes): TurnChanges {
  const { tickets, requests, engagements, queues, presences, availabilities, renewals, visitorLeases } = changes;
  return {
    tickets: Array.from(tickets, idOf),
    requests: Array.from(requests, idOf),
    engagements: Array.from(engagements, idOf),
    operators: [...presences.keys(), ...Array.from(availabilities, ({ settings }) => settings.id)],
    leases: Array.from(renewals, ({ settings }) => settings.id),
    visitors: [...visitorLeases.keys()],
    queue_states: Array.from(queues, ({ settings }) => settings.id),
    ended: {
      tickets: [...tickets].filter(({ state }) => state !== 'waiting' && state !== 'offered').map(idOf),
      requests: [...requests].filter(({ state }) => state !== 'pending').map(idOf),
      engagements: [...engagements]
        .filter(({ endedAt }) => endedAt !== null)
        .map(({ id, operator, subStartedAt }) => ({
          id,
          operator_id: operator.settings.id,
          sub_started_at: subStartedAt,
        })),
    },
  };
}

function idOf<Id>({ id }: { readonly id: Id }): Id {
  return id;
}

/** Which cached queue data is outdated after a turn: the staff (and the counts), or only the visitor counts; `null`: none. */
export function outdatedBy({ presences, availabilities, queues }: Changes): 'visitors' | 'staff' | null {
  if (presences.size + availabilities.size > 0) return 'staff';
  return queues.size > 0 ? 'visitors' : null;
}
