import type { Medium } from '@usher/contract/media';
import type { OperatorId, SiteId, TeamId } from '../platform/ids.ts';
import type { StaffGroup } from './staff.ts';

/** Operators of a site who are in the same teams there. */
export interface TeamSet {
  readonly site_id: SiteId;
  readonly team_ids: readonly TeamId[];
  readonly operator_ids: readonly OperatorId[];
}

/** Available operators of a site who take the same media. */
export interface AvailableOperators {
  readonly site_id: SiteId;
  readonly media: readonly Medium[];
  readonly operator_ids: readonly OperatorId[];
  /** When the first of their presence leases ends; null: never. */
  readonly expires_at: Date | null;
}

/** The teams of the operators of sites. They change rarely, and presence all the time, so they are read apart. */
export class Memberships {
  readonly #teams = new Map<SiteId, Map<OperatorId, readonly TeamId[]>>();

  constructor(sets: readonly TeamSet[]) {
    for (const { site_id, team_ids, operator_ids } of sets) {
      const ofSite = this.#teams.get(site_id) ?? new Map<OperatorId, readonly TeamId[]>();
      for (const id of operator_ids) ofSite.set(id, team_ids);
      this.#teams.set(site_id, ofSite);
    }
  }

  /** Divides the operators into groups with the same teams. */
  groupsOf(available: readonly AvailableOperators[]): StaffGroup[] {
    return available.flatMap(({ site_id, media, operator_ids, expires_at }) => {
      const ofSite = this.#teams.get(site_id);
      const counts = new Map<readonly TeamId[], number>();
      for (const id of operator_ids) {
        const teams = ofSite?.get(id) ?? noTeams;
        counts.set(teams, (counts.get(teams) ?? 0) + 1);
      }
      return [...counts].map(([team_ids, operators]) => ({ site_id, team_ids, media, operators, expires_at }));
    });
  }
}

const noTeams: readonly TeamId[] = [];
