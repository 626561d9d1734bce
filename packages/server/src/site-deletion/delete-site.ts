import { lockAccount } from '../identity/lock-account.ts';
import { findSite, lockSite } from '../identity/sites/store.ts';
import type { SiteRow } from '../identity/sites/site.ts';
import { inTransaction, type Sql } from '../platform/database/database.ts';
import { invalid, notFound, Refusal } from '../platform/errors.ts';
import type { OperatorId } from '../platform/ids.ts';
import type { DeletedSite } from './belongings.ts';
import { countDetails } from './contents.ts';
import { countHistory, countConfiguration, countActive, hasOtherSite, isSampleSite, deleteSiteRows } from './store.ts';

interface Deletion extends DeletedSite {
  readonly caller: OperatorId;
  /** The name of the site, as a confirmation; `null`: only an empty site is deleted. */
  readonly confirm: string | null;
}

/** Deletes the site and returns its row. Runs under the locks of the account and of the site, so nothing is added to the site meanwhile. */
export async function deleteSite(pool: Sql, deletion: Deletion): Promise<SiteRow> {
  const history = await countHistory(pool, deletion);
  return inTransaction(pool, async (sql) => {
    await lockAccount(sql, deletion.accountId);
    await lockSite(sql, deletion.id);
    const site = await findSite(sql, deletion.id);
    if (site === null) throw notFound('site', deletion.id);
    await refuseProtected(sql, deletion);
    await refuseBusy(sql, deletion);
    if (deletion.confirm === null) {
      const details = countDetails({ ...(await countConfiguration(sql, deletion, deletion.caller)), ...history });
      if (details.length > 0)
        throw new Refusal(
          'site_not_empty',
          'The site is not empty. To delete it with everything listed in details, send its name as confirm.',
          { details },
        );
    } else if (deletion.confirm !== site.name)
      throw invalid([{ attribute: '/confirm', detail: 'must be the name of the site' }]);
    await deleteSiteRows(sql, deletion);
    return site;
  });
}

async function refuseProtected(sql: Sql, deletion: Deletion): Promise<void> {
  if (await isSampleSite(sql, deletion))
    throw new Refusal('sample_site', 'This site belongs to the sample data. Delete the sample data instead.');
  if (!(await hasOtherSite(sql, deletion)))
    throw new Refusal(
      'last_site',
      'This is the only site of the account, sample data aside. Create another site first.',
    );
}

async function refuseBusy(sql: Sql, deletion: Deletion): Promise<void> {
  const details = countDetails(await countActive(sql, deletion));
  if (details.length > 0)
    throw new Refusal(
      'site_busy',
      'The site has waiting visitors or active conversations. Close its queues, wait until the conversations have ended, and try again.',
      { details },
    );
}
