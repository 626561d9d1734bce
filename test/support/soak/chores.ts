import { setTimeout as pause } from 'node:timers/promises';
import { linkOf, openSession, sessionsPath } from '../people/sign-in.ts';
import { call } from '../server.ts';
import { expectStatus, makeAccessToken, makeSite, makeVisitor } from '../world.ts';
import { passBy } from './conversation.ts';
import type { Desk } from './desk.ts';

/** What happens at a desk besides conversations. */
interface Chore {
  readonly name: string;
  readonly everySec: number;
  readonly run: (desk: Desk) => Promise<void>;
}

interface ChoreOptions {
  /** The webhook that is replayed and recovered. */
  readonly webhookId: string;
  /** The rarest chore is done as often as this. */
  readonly longestEverySec: number;
  readonly signal: AbortSignal;
}

const pick = <T>(all: readonly T[]): T => {
  const found = all[Math.floor(Math.random() * all.length)];
  if (found === undefined) throw new Error('there is nothing to choose from');
  return found;
};

function choresOf(webhookId: string): readonly Chore[] {
  return [
    { name: 'unused visitor', everySec: 5, run: passBy },
    { name: 'sign-in and sign-out', everySec: 10, run: signInAndOut },
    { name: 'console reads', everySec: 10, run: readConsole },
    { name: 'setting changed', everySec: 30, run: changeSetting },
    { name: 'operator leaves', everySec: 60, run: async (desk) => letLeave(desk) },
    { name: 'access token', everySec: 60, run: useAccessToken },
    { name: 'replay', everySec: 30, run: async (desk) => replay(desk, webhookId) },
    { name: 'recovery', everySec: 300, run: async (desk) => recover(desk, webhookId) },
    { name: 'site deleted', everySec: 300, run: deleteSite },
  ];
}

/** Does all chores until the signal. */
export async function doChores(desk: Desk, { webhookId, longestEverySec, signal }: ChoreOptions): Promise<void> {
  await Promise.all(
    choresOf(webhookId).map(async ({ name, everySec, run }) => {
      const everyMs = 1_000 * Math.min(everySec, longestEverySec);
      // Desks do not work in step.
      await pause(everyMs * Math.random(), undefined, { signal }).catch(() => undefined);
      while (!signal.aborted) {
        try {
          await run(desk);
          desk.traffic.count(name);
        } catch (error) {
          if (!desk.traffic.isBusy(error)) desk.traffic.reportUnexpected(`${name}: ${String(error)}`);
        }
        await pause(everyMs, undefined, { signal }).catch(() => undefined);
      }
    }),
  );
}

/** Enough operators stay. */
function letLeave({ operators }: Desk): void {
  if (!operators.some(({ isAway }) => isAway)) pick(operators).leave();
}

async function signInAndOut({ node, operators }: Desk): Promise<void> {
  const session = await openSession(node(), { link: await linkOf(node(), pick(operators).id) });
  const headers = { cookie: session.cookie };
  expectStatus(await call(node(), `GET ${sessionsPath}/current`, { token: session.token }), 200);
  expectStatus(await call(node(), `DELETE ${sessionsPath}/current`, { token: session.token, headers }), 204);
}

async function readConsole(desk: Desk): Promise<void> {
  const { node, account, traffic } = desk;
  const token = await desk.admin();
  const site = `site_ids[]=${account.siteId}`;
  const since = new Date(Date.now() - 3_600_000).toISOString();
  const range = `from=${since}&to=${new Date().toISOString()}`;
  for (const path of [
    `/queues?${site}`,
    `/engagements?${site}`,
    `/queue_tickets?${site}`,
    `/queues/stats?${site}&${range}`,
    `/operators/presence_intervals?${site}&${range}`,
    '/operators',
    '/events',
    '/audit_log',
  ])
    await traffic.call(node(), `GET ${path}`, { token });
}

async function changeSetting(desk: Desk): Promise<void> {
  const body = { name: `Site ${Math.floor(Math.random() * 100)}` };
  await desk.traffic.call(desk.node(), `PATCH /sites/${desk.account.siteId}`, { token: await desk.admin(), body });
}

async function useAccessToken(desk: Desk): Promise<void> {
  const { node, operators } = desk;
  const [operator, admin] = [pick(operators), await desk.admin()];
  const { id, token } = await makeAccessToken(node(), { admin }, operator.id);
  expectStatus(await call(node(), 'GET /engagement_requests', { token }), 200);
  const path = `/operators/${operator.id}/access_tokens/${id}`;
  expectStatus(await call(node(), `DELETE ${path}`, { token: admin }), 204);
}

async function replay(desk: Desk, webhookId: string): Promise<void> {
  const { node, traffic } = desk;
  const token = await desk.admin();
  const list = await traffic.call(node(), `GET /webhooks/${webhookId}/deliveries?per_page=20`, { token });
  const [delivery] = list?.body.deliveries ?? [];
  if (delivery !== undefined) await traffic.call(node(), `POST /deliveries/${delivery.id}/replay`, { token });
}

async function recover(desk: Desk, webhookId: string): Promise<void> {
  const body = { since: new Date(Date.now() - 60_000).toISOString() };
  await desk.traffic.call(desk.node(), `POST /webhooks/${webhookId}/recover`, { token: await desk.admin(), body });
}

async function deleteSite(desk: Desk): Promise<void> {
  const account = { ...desk.account, admin: await desk.admin() };
  const name = 'For a season';
  const id = await makeSite(desk.node(), account, name);
  await makeVisitor(desk.node(), account, id);
  const query = new URLSearchParams({ confirm: name }).toString();
  expectStatus(await call(desk.node(), `DELETE /sites/${id}?${query}`, { token: account.admin }), 204);
}
