import assert from 'node:assert/strict';
import { test } from 'node:test';
import { end, engage, sendText } from '../support/people/chat.ts';
import { forThisFile } from '../support/fixture.ts';
import { call, startTestServer, type Json } from '../support/server.ts';
import {
  acceptOffer,
  enqueue,
  expectStatus,
  makeAccount,
  makeOperator,
  makeAvailableOperator,
  makeSite,
  makeTeam,
  setPresence,
} from '../support/world.ts';

const server = await forThisFile(startTestServer());

test('operators see the colleagues on their sites and nothing of other sites', async () => {
  const own = await makeAccount(server);
  const otherSite = await makeSite(server, own);
  const team = await makeTeam(server, own, own.siteId);
  const farTeam = await makeTeam(server, own, otherSite);
  const me = await makeOperator(server, own, [{ site_id: own.siteId, role: 'operator' }]);
  const both = await makeOperator(server, own, [
    { site_id: own.siteId, role: 'operator', team_ids: [team] },
    { site_id: otherSite, role: 'manager', team_ids: [farTeam] },
  ]);
  const far = await makeOperator(server, own, [{ site_id: otherSite, role: 'operator' }]);
  const gone = await makeOperator(server, own, [{ site_id: own.siteId, role: 'operator' }]);
  expectStatus(await call(server, `DELETE /operators/${gone.id}`, { token: own.admin }), 204);
  await setPresence(server, both, { media: ['text', 'audio'], reason: 'nobody else’s business' });
  const list = async (query: string, token = me.token): Promise<Json[]> =>
    expectStatus(await call(server, `GET /colleagues?${query}`, { token }), 200).body.colleagues;

  assert.deepEqual(await list(''), [
    {
      id: both.id,
      name: 'Somebody',
      available: true,
      media: ['text', 'audio'],
      site_ids: [own.siteId],
      teams: [{ id: team, site_id: own.siteId, name: 'Team' }],
    },
  ]);
  const everybody = (await list('include_offline=true')).map(({ id }) => id);
  assert.deepEqual(new Set(everybody), new Set([own.adminId, me.id, both.id]));
  const fromAfar = (await list('include_offline=true', far.token)).map(({ id }) => id);
  assert.deepEqual(new Set(fromAfar), new Set([own.adminId, both.id, far.id]));
  assert.equal((await call(server, `GET /colleagues?site_ids[]=${otherSite}`, { token: me.token })).status, 404);
  assert.equal((await list('include_offline=true&per_page=1')).length, 1);
});

test('an operator may read a visitor’s earlier engagements only while serving that visitor', async () => {
  const past = await engage(server, {}, {});
  await sendText(past, past.visitor, 'My order is late');
  await end(past);
  const next = await makeAvailableOperator(server, past.own);
  await setPresence(server, past.operator, { available: false });
  const paths = [`/engagements/${past.id}`, `/engagements/${past.id}/chat_transcript`, `/engagements/${past.id}/files`];
  const statuses = async (token: string): Promise<number[]> =>
    Promise.all(paths.map(async (path) => (await call(server, `GET ${path}`, { token })).status));
  const listed = async (query = ''): Promise<string[]> => {
    const path = `/engagements?site_ids[]=${past.own.siteId}${query}`;
    const { engagements } = expectStatus(await call(server, `GET ${path}`, { token: next.token }), 200).body;
    return engagements.map(({ id }: Json) => id);
  };
  const ofVisitor = `&visitor_ids[]=${past.visitor.id}`;
  assert.deepEqual(await statuses(next.token), [403, 403, 403]);
  assert.deepEqual(await listed(ofVisitor), []);

  await enqueue(server, past.own, past.queue, past.visitor);
  const current = await acceptOffer(server, next);
  assert.deepEqual(await statuses(next.token), [200, 200, 200]);
  assert.deepEqual(await listed(ofVisitor), [current, past.id]);
  assert.deepEqual(await listed(), [current], 'without a visitor filter, only their own engagements are listed');
  const say = `PUT /engagements/${past.id}/chat_messages/00000000-0000-4000-8000-000000000001`;
  assert.equal((await call(server, say, { token: next.token, body: { content: 'Hello' } })).status, 403);

  const stranger = await makeAvailableOperator(server, past.own);
  assert.deepEqual(await statuses(stranger.token), [403, 403, 403]);
  await end({ ...past, id: current, operator: next });
  assert.deepEqual(await statuses(next.token), [403, 403, 403]);
  assert.deepEqual(await listed(ofVisitor), [current]);
});
