import { createAccount, newKey } from '../../packages/server/src/identity/accounts.ts';
import { engage, type Chat } from '../chat-load.ts';
import { withDatabase } from '../measuring/databases.ts';
import { RawClient } from '../measuring/raw-client.ts';
import { openFloor, type Person } from '../routing-load.ts';
import { urlFor, type Cluster } from './scale-cluster.ts';
import { call, firstSite, signIn, type Session } from '../measuring/usher.ts';

/** A visitor and an operator on a site of their own, so that every offer to the operator is about this visitor. */
export interface Lane {
  /** Of the account's super_manager. */
  readonly session: Session;
  readonly siteId: string;
  readonly queueId: string;
  readonly visitor: Person;
  readonly operator: Person;
  /** They may be connected to different processes. */
  readonly visitorUrl: string;
  readonly operatorUrl: string;
}

export interface ConnectedLane extends Lane {
  readonly visitorClient: RawClient;
  readonly operatorClient: RawClient;
}

/** The lanes are connected while `use` runs: the server would close connections that are idle between two loads. */
export async function connected<T>(
  lanes: readonly Lane[],
  use: (lanes: readonly ConnectedLane[]) => Promise<T>,
): Promise<T> {
  const open = lanes.map((lane) => ({
    ...lane,
    visitorClient: new RawClient(lane.visitorUrl),
    operatorClient: new RawClient(lane.operatorUrl),
  }));
  const result = await use(open);
  for (const { visitorClient, operatorClient } of open) {
    visitorClient.close();
    operatorClient.close();
  }
  return result;
}

interface LaneNumbers {
  readonly accounts: number;
  readonly lanesEach: number;
}

/** Opens lanes in new accounts. The operators are available, so that every ticket is offered at once. */
export async function openLanes(cluster: Cluster, { accounts, lanesEach }: LaneNumbers): Promise<readonly Lane[]> {
  const lanes: Lane[] = [];
  for (let account = 0; account < accounts; account += 1) {
    const { session, siteIds } = await makeAccount(cluster, lanesEach);
    for (const siteId of siteIds) lanes.push(await openLane(cluster, { session, siteId, nth: lanes.length }));
  }
  return lanes;
}

/** An account with so many sites, and the session of its super_manager. */
export async function makeAccount(
  cluster: Cluster,
  sites: number,
): Promise<{ readonly session: Session; readonly siteIds: readonly string[] }> {
  const key = newKey();
  await withDatabase(cluster.databaseUrl, async (sql) =>
    createAccount(sql, { accountName: 'Bench', email: `${key.id}@bench`, key }),
  );
  const url = urlFor(cluster, 0);
  const session = await signIn({ url }, key);
  const siteIds = [await firstSite(session)];
  while (siteIds.length < sites) {
    const body = JSON.stringify({ name: `Site ${siteIds.length}` });
    const made = await call(session, { method: 'POST', path: '/sites', status: 201, body });
    siteIds.push((JSON.parse(made.body) as { id: string }).id);
  }
  // Signed in again, so that the token is for all sites.
  return { session: sites === 1 ? session : await signIn({ url }, key), siteIds };
}

async function openLane(
  cluster: Cluster,
  { session, siteId, nth }: { readonly session: Session; readonly siteId: string; readonly nth: number },
): Promise<Lane> {
  const { queueId, operators, visitors } = await openFloor(session, siteId, { operators: 1, visitors: 1 });
  const [operator] = operators;
  const [visitor] = visitors;
  if (operator === undefined || visitor === undefined) throw new Error('the floor has no operator or no visitor');
  const operatorUrl = urlFor(cluster, nth + 1);
  const client = new RawClient(operatorUrl);
  await client.json(200, 'PUT', `/operators/${operator.id}/presence`, operator.token, { available: true });
  client.close();
  return { session, siteId, queueId, visitor, operator, visitorUrl: urlFor(cluster, nth), operatorUrl };
}

/** The visitor and the operator begin to chat. */
export async function beginChat(lane: ConnectedLane, webhookUrl: string | null = null): Promise<Chat> {
  const { visitorClient: client, operatorClient } = lane;
  return engage(lane, { client, operatorClient, webhookUrl });
}

export async function endChat({ operatorClient, operator }: ConnectedLane, { id }: Chat): Promise<void> {
  await operatorClient.json(200, 'PATCH', `/engagements/${id}`, operator.token, { action: 'end' });
}
