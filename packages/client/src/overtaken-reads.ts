/**
 * The feed can overtake a read: an answer that was made before an event may arrive after it. These rules decide what counts then.
 */

/** Whether a read shows an earlier state of an engagement than the one already known. */
export function isOutdated(read: Versioned, known: Versioned | null): boolean {
  if (known === null) return false;
  if (known.state === 'ended') return read.state !== 'ended';
  return read.updated_at < known.updated_at;
}

interface Versioned {
  readonly state: 'active' | 'ended';
  readonly updated_at: string;
}

/**
 * Upgrade requests, newest first: those that were read, and those that only the feed has brought, which are newer. A request that
 * was answered stays answered.
 */
export function mergeUpgrades<Upgrade extends Request>(
  known: readonly Upgrade[],
  read: readonly Upgrade[],
): readonly Upgrade[] {
  const readIds = new Set(read.map(({ id }) => id));
  const answered = new Map(known.filter(({ state }) => state !== 'pending').map((request) => [request.id, request]));
  return [
    ...known.filter(({ id }) => !readIds.has(id)),
    ...read.map((request) => (request.state === 'pending' ? (answered.get(request.id) ?? request) : request)),
  ];
}

interface Request {
  readonly id: string;
  readonly state: 'pending' | 'accepted' | 'declined' | 'canceled';
}
