import type { Engaged } from '../people/chat.ts';
import { call, type Json, type TestServer } from '../server.ts';
import { webhookFields } from '../receivers/webhooks.ts';
import {
  acceptOffer,
  requestTicket,
  expectStatus,
  makeAccount,
  makeOperator,
  makeAvailableOperator,
  makeQueue,
  makeSite,
  type TestAccount,
  type TestOperator,
} from '../world.ts';

/** An account with two sites, and an operator who registers webhooks for both. */
export interface RegistrarSetup {
  readonly own: TestAccount;
  readonly admin: { readonly token: string };
  readonly first: string;
  readonly second: string;
  /** super_manager of both sites. */
  readonly registrar: TestOperator;
}

export async function makeRegistrarSetup(server: TestServer): Promise<RegistrarSetup> {
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

export const webhookBody = { ...webhookFields, events: ['engagement.chat.message', 'engagement.start'] };

export async function registerWebhook(
  server: TestServer,
  { token }: { readonly token: string },
  more: Json = {},
): Promise<Json> {
  return expectStatus(await call(server, 'POST /webhooks', { token, body: { ...webhookBody, ...more } }), 201).body;
}

interface RoleAssignment {
  readonly own: TestAccount;
  readonly operator: TestOperator;
  /** The role by site. The operator loses the roles on all other sites. */
  readonly roles: Readonly<Record<string, string>>;
}

export async function assignRoles(server: TestServer, { own, operator, roles }: RoleAssignment): Promise<void> {
  const assignments = Object.entries(roles).map(([site_id, role]) => ({ site_id, role }));
  const answer = await call(server, `PATCH /operators/${operator.id}`, { token: own.admin, body: { assignments } });
  expectStatus(answer, 200);
}

interface EngagementsInput {
  readonly own: TestAccount;
  readonly siteId: string;
  readonly count: number;
}

/** Starts engagements on a site. They use the given processes in turn. */
export async function engageOn(
  servers: readonly [TestServer, ...TestServer[]],
  { own, siteId, count }: EngagementsInput,
): Promise<Engaged[]> {
  const [server] = servers;
  const account = { ...own, siteId: siteId as TestAccount['siteId'] };
  const queue = await makeQueue(server, account);
  const chats: Engaged[] = [];
  for (let n = 0; n < count; n += 1) {
    const operator = await makeAvailableOperator(server, account);
    const { visitor, ...answer } = await requestTicket(server, account, { queue_ids: [queue] });
    expectStatus(answer, 201);
    const reached = servers[n % servers.length] ?? server;
    chats.push({ server: reached, own, operator, visitor, id: await acceptOffer(server, operator), queue });
  }
  return chats;
}
