import type { Engaged } from './chat.ts';
import { call, type Json, type TestServer } from './server.ts';
import { webhookFields } from './webhooks.ts';
import {
  acceptOffer,
  askIn,
  expectStatus,
  makeAccount,
  makeOperator,
  makePresent,
  makeQueue,
  makeSite,
  type TestAccount,
  type TestOperator,
} from './world.ts';

/** An account with two sites, and somebody who registers webhooks for both. */
export interface RegistrarScene {
  readonly own: TestAccount;
  readonly admin: { readonly token: string };
  readonly first: string;
  readonly second: string;
  /** super_manager of both sites. */
  readonly registrar: TestOperator;
}

export async function makeRegistrarScene(server: TestServer): Promise<RegistrarScene> {
  const own = await makeAccount(server);
  const first = own.siteId;
  const second = await makeSite(server, own);
  const registrar = await makeOperator(
    server,
    own,
    [first, second].map((site_id) => ({ site_id, role: 'super_manager' })),
  );
  return { own, admin: { token: own.admin }, first, second, registrar };
}

export const payload = { ...webhookFields, events: ['engagement.chat.message', 'engagement.start'] };

export async function registerWebhook(
  server: TestServer,
  { token }: { readonly token: string },
  more: Json = {},
): Promise<Json> {
  return expectStatus(await call(server, 'POST /webhooks', { token, body: { ...payload, ...more } }), 201).body;
}

interface Assigned {
  readonly own: TestAccount;
  readonly operator: TestOperator;
  /** By site; of other sites the operator has none. */
  readonly roles: Readonly<Record<string, string>>;
}

export async function assignRoles(server: TestServer, { own, operator, roles }: Assigned): Promise<void> {
  const assignments = Object.entries(roles).map(([site_id, role]) => ({ site_id, role }));
  const answer = await call(server, `PATCH /operators/${operator.id}`, { token: own.admin, body: { assignments } });
  expectStatus(answer, 200);
}

interface Engagements {
  readonly own: TestAccount;
  readonly siteId: string;
  readonly count: number;
}

/** Engagements on a site of the account, which reach the processes by turns. */
export async function engageOn(
  servers: readonly [TestServer, ...TestServer[]],
  { own, siteId, count }: Engagements,
): Promise<Engaged[]> {
  const [server] = servers;
  const there = { ...own, siteId: siteId as TestAccount['siteId'] };
  const queue = await makeQueue(server, there);
  const chats: Engaged[] = [];
  for (let n = 0; n < count; n += 1) {
    const operator = await makePresent(server, there);
    const { visitor, ...asked } = await askIn(server, there, { queue_ids: [queue] });
    expectStatus(asked, 201);
    const reached = servers[n % servers.length] ?? server;
    chats.push({ server: reached, own, operator, visitor, id: await acceptOffer(server, operator), queue });
  }
  return chats;
}
