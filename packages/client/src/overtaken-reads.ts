/**
 * The feed can overtake a read: an answer that was created before an event may arrive after it. These rules decide which one counts.
 */

/** Whether a read shows an earlier state of an engagement than the current one. */
export function isOutdated(read: Versioned, current: Versioned | null): boolean {
  if (current === null) return false;
  if (current.state === 'ended') return read.state !== 'ended';
  return read.updated_at < current.updated_at;
}

interface Versioned {
  readonly state: 'active' | 'ended';
  readonly updated_at: string;
}

/**
 * Merges upgrade requests, newest first: those that were read, and those that came only by the feed, which are newer. An answered
 * request stays answered.
 */
export function mergeUpgrades<Upgrade extends Request>(
  current: readonly Upgrade[],
  read: readonly Upgrade[],
): readonly Upgrade[] {
  const readIds = new Set(read.map(({ id }) => id));
  const answered = new Map(current.filter(({ state }) => state !== 'pending').map((request) => [request.id, request]));
  return [
    ...current.filter(({ id }) => !readIds.has(id)),
    ...read.map((request) => (request.state === 'pending' ? (answered.get(request.id) ?? request) : request)),
  ];
}

interface Request {
  readonly id: string;
  readonly state: 'pending' | 'accepted' | 'declined' | 'canceled';
}
