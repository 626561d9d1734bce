import type { Medium } from '@usher/contract/media';
import type { SiteId, TeamId } from '../platform/ids.ts';
import { mediaIn, mediaSetCount, mediaSetOf, type MediaSet } from './media-set.ts';

/** Available operators of a site who have the same teams there and take the same media, so that they staff the same queues. */
export interface StaffGroup {
  readonly site_id: SiteId;
  readonly team_ids: readonly TeamId[];
  readonly media: readonly Medium[];
  /** How many operators there are in the group. */
  readonly operators: number;
  /** When the first presence lease of the group ends; null: never. */
  readonly expires_at: Date | null;
}

/** Who staffs a queue. */
export interface QueueStaff {
  readonly operators: number;
  /** The media of the queue that at least one of the operators takes. */
  readonly media: readonly Medium[];
}

/** What a queue wants of its staff. */
export interface StaffQuery {
  readonly siteId: SiteId;
  /** Any of these teams; empty: no restriction. */
  readonly teamIds: readonly TeamId[];
  readonly media: readonly Medium[];
}

/**
 * The staff of queues (D2.1): the available operators of the queue's site who are in one of its teams and take one of its media.
 *
 * Operators come in groups, and queues with the same site and teams share a pool, so that the cost is queues plus operators and
 * not their product.
 */
export class Staff {
  readonly #sites = new Map<SiteId, SiteStaff>();

  constructor(groups: readonly StaffGroup[]) {
    for (const group of groups) {
      const site = this.#sites.get(group.site_id) ?? new SiteStaff();
      site.add(group);
      this.#sites.set(group.site_id, site);
    }
  }

  of({ siteId, teamIds, media }: StaffQuery): QueueStaff {
    return this.#sites.get(siteId)?.pool(teamIds).staffOf(mediaSetOf(media)) ?? nobody;
  }
}

const nobody: QueueStaff = { operators: 0, media: [] };

class SiteStaff {
  readonly #groups: StaffGroup[] = [];
  readonly #byTeam = new Map<TeamId, StaffGroup[]>();
  /** By the ids of the teams. */
  readonly #pools = new Map<string, StaffPool>();

  add(group: StaffGroup): void {
    this.#groups.push(group);
    for (const team of group.team_ids) {
      const inTeam = this.#byTeam.get(team) ?? [];
      inTeam.push(group);
      this.#byTeam.set(team, inTeam);
    }
  }

  pool(teamIds: readonly TeamId[]): StaffPool {
    const key = teamIds.join();
    const existing = this.#pools.get(key);
    if (existing !== undefined) return existing;
    const pool = new StaffPool(this.#groupsIn(teamIds));
    this.#pools.set(key, pool);
    return pool;
  }

  /** A group in two of the teams counts once. */
  #groupsIn(teamIds: readonly TeamId[]): Iterable<StaffGroup> {
    if (teamIds.length === 0) return this.#groups;
    return new Set(teamIds.flatMap((team) => this.#byTeam.get(team) ?? []));
  }
}

/** The operators of a site and of some teams, counted by the set of media that they take. */
class StaffPool {
  readonly #operators: number[] = Array.from({ length: mediaSetCount }, () => 0);
  /** By the set of media of the queue. */
  readonly #staff: QueueStaff[] = [];

  constructor(groups: Iterable<StaffGroup>) {
    for (const { media, operators } of groups) {
      const set = mediaSetOf(media);
      this.#operators[set] = (this.#operators[set] ?? 0) + operators;
    }
  }

  staffOf(wanted: MediaSet): QueueStaff {
    return (this.#staff[wanted] ??= this.#count(wanted));
  }

  #count(wanted: MediaSet): QueueStaff {
    let operators = 0;
    let taken = 0;
    for (const [set, count] of this.#operators.entries()) {
      if (count === 0 || (set & wanted) === 0) continue;
      operators += count;
      taken |= set & wanted;
    }
    return { operators, media: mediaIn(taken) };
  }
}
