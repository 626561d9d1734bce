import type { Sql } from '../../../../packages/server/src/platform/database/database.ts';
import {
  newId,
  type AccountId,
  type EngagementId,
  type OperatorId,
  type SiteId,
  type VisitorId,
} from '../../../../packages/server/src/platform/ids.ts';

interface SimulatedWebhook {
  readonly id: string;
  readonly origin: string;
  readonly isOrdered: boolean;
}

/** The account of one history: engagements in which visitors write, and webhooks that are sent their messages. */
export interface ClusterAccount {
  readonly id: AccountId;
  readonly siteId: SiteId;
  readonly engagements: readonly { readonly id: EngagementId; readonly visitorId: VisitorId }[];
  readonly webhooks: readonly SimulatedWebhook[];
  readonly origins: readonly string[];
}

const engagementCount = 4;

export async function createClusterAccount(sql: Sql): Promise<ClusterAccount> {
  const id = newId<AccountId>();
  const siteId = newId<SiteId>();
  const engagements = Array.from({ length: engagementCount }, () => ({
    id: newId<EngagementId>(),
    visitorId: newId<VisitorId>(),
  }));
  const webhooks = [
    { id: newId(), origin: 'simulated://one', isOrdered: true },
    { id: newId(), origin: 'simulated://one', isOrdered: true },
    { id: newId(), origin: 'simulated://two', isOrdered: true },
    { id: newId(), origin: 'simulated://two', isOrdered: false },
  ];
  const destinations = new Map(webhooks.map(({ origin }) => [origin, newId<string>()]));
  // The last history may have ended with a crash, which leaves no epoch in force.
  await sql`SELECT log_epoch()`;
  await sql`INSERT INTO accounts (id, name) VALUES (${id}, 'Simulated')`;
  const ids = engagements.map((each) => each.id);
  const visitorIds = engagements.map(({ visitorId }) => visitorId);
  await sql`
    INSERT INTO engagements (id, account_id, asked_on_site_id, site_id, visitor_id, operator_id, sub_engagement_id,
                             sub_started_at, media, request_id, started_at, updated_at, highest_media, operator_team_ids)
    SELECT e.id, ${id}, ${siteId}, ${siteId}, e.visitor_id, ${newId<OperatorId>()}, e.id, now(), 'text', e.id, now(), now(),
           'text', '{}'
      FROM unnest(${ids}::uuid[], ${visitorIds}::uuid[]) AS e (id, visitor_id)`;
  await sql`
    INSERT INTO destinations (id, account_id, origin)
    SELECT d.id, ${id}, d.origin
      FROM unnest(${[...destinations.values()]}::uuid[], ${[...destinations.keys()]}::text[]) AS d (id, origin)`;
  for (const { id: webhookId, origin, isOrdered } of webhooks)
    await sql`
      INSERT INTO webhooks (id, account_id, destination_id, url, method, headers, events, hears, ordering)
      VALUES (${webhookId}, ${id}, ${destinations.get(origin) ?? null}, ${`${origin}/hook`}, 'POST', '{}',
              '{engagement.chat.message}', '{engagement.chat.message}', ${isOrdered ? 'engagement' : 'none'})`;
  return { id, siteId, engagements, webhooks, origins: [...destinations.keys()] };
}

/** Deletes what processes look for in all accounts, so that the next history finds nothing of this one. */
export async function clearCluster(sql: Sql): Promise<void> {
  await sql`TRUNCATE deliveries`;
  await sql`DELETE FROM webhooks`;
  await sql`DELETE FROM destinations`;
}
