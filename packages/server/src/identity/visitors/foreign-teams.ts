import type { Sql } from '../../platform/database/database.ts';
import { invalid } from '../../platform/errors.ts';
import type { SiteId, TeamId } from '../../platform/ids.ts';
import { teamsOnSite } from '../teams/store.ts';

/** Refuses teams that are not on the site. `within` is the pointer of the object that has the teams. */
export async function refuseForeignTeams(
  sql: Sql,
  siteId: SiteId,
  teamIds: readonly TeamId[],
  within = '',
): Promise<void> {
  const siteTeams = await teamsOnSite(sql, siteId, teamIds);
  const violations = teamIds.flatMap((team, index) =>
    siteTeams.has(team) ? [] : [{ attribute: `${within}/team_ids/${index}`, detail: 'is not a team of the site' }],
  );
  if (violations.length > 0) throw invalid(violations);
}
