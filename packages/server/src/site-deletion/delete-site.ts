import { lockAccount } from '../identity/lock-account.ts';
import { findSite } from '../identity/sites/store.ts';
import type { SiteRow } from '../identity/sites/site.ts';
import { inTransaction, type Sql } from '../platform/database.ts';
import { invalid, notFound, Refusal } from '../platform/errors.ts';
import type { OperatorId } from '../platform/ids.ts';
import type { DeletedSite } from './belongings.ts';
import { countDetails } from './contents.ts';
import { countHistory, countSetUp, countUnderWay, hasOtherSite, isSampleSite, takeDown } from './store.ts';

interface Deletion extends DeletedSite {
  readonly caller: OperatorId;
  /** The site's name, from somebody who knows what goes with it; `null`: only an empty site is deleted. */
  readonly confirm: string | null;
}

/** Deletes the site, and answers what it was. Nothing can begin there meanwhile: that is decided under the account's lock. */
export async function deleteSite(pool: Sql, deletion: Deletion): Promise<SiteRow> {
  const history = await countHistory(pool, deletion);
  return inTransaction(pool, async (sql) => {
    await lockAccount(sql, deletion.accountId);
    const site = await findSite(sql, deletion.id);
    if (site === null) throw notFound('site', deletion.id);
    await refuseKept(sql, deletion);
    await refuseBusy(sql, deletion);
    if (deletion.confirm === null) {
      const details = countDetails({ ...(await countSetUp(sql, deletion, deletion.caller)), ...history });
      if (details.length > 0)
        throw new Refusal(
          'site_not_empty',
          'The site is not empty. To delete it with all that is named here, send its name as confirm.',
          { details },
        );
    } else if (deletion.confirm !== site.name)
      throw invalid([{ attribute: '/confirm', detail: 'must be the name of the site' }]);
    await takeDown(sql, deletion);
    return site;
  });
}

async function refuseKept(sql: Sql, deletion: Deletion): Promise<void> {
  if (await isSampleSite(sql, deletion))
    throw new Refusal('sample_site', 'This is the site of the sample data. Delete the sample data instead.');
  if (!(await hasOtherSite(sql, deletion)))
    throw new Refusal(
      'last_site',
      'This is the only site of the account, not counting sample data. Create another first.',
    );
}

async function refuseBusy(sql: Sql, deletion: Deletion): Promise<void> {
  const details = countDetails(await countUnderWay(sql, deletion));
  if (details.length > 0)
    throw new Refusal(
      'site_busy',
      'Visitors are waiting or talking on the site. Close its queues, let the conversations end, and try again.',
      { details },
    );
}
