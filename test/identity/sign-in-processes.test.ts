import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startCluster } from '../support/processes/cluster.ts';
import { openFeed } from '../support/people/feed.ts';
import { forThisFile } from '../support/fixture.ts';
import type { UsherProcess } from '../support/processes/process.ts';
import { call, until } from '../support/server.ts';
import {
  exchange,
  invite,
  linkOf,
  openSession,
  sessionOf,
  sessionsPath,
  statusesOf,
} from '../support/people/sign-in.ts';
import { expectStatus, makeAccount } from '../support/world.ts';

const current = `GET ${sessionsPath}/current`;
/** Within this time a revocation reaches the other process. */
const propagationMs = 1_000;

const cluster = await forThisFile(startCluster(2));
const [one, two] = cluster.nodes;
assert.ok(one && two);
const nodes = { one, two };
const account = await makeAccount(cluster.reach(one));

async function statusAt(node: UsherProcess, token: string): Promise<number> {
  return (await call(node, current, { token })).status;
}

test('a new session works in every process at once', async () => {
  const { one, two } = nodes;
  for (let round = 0; round < 20; round += 1) {
    // Makes the second process cache the operator without the new session.
    assert.equal(await statusAt(two, account.admin), 200);
    const { token } = await openSession(cluster.reach(one), {
      link: await linkOf(cluster.reach(one), account.adminId),
    });
    assert.equal(await statusAt(two, token), 200);
  }
});

test('signing out everywhere ends tokens, cookies and open feeds in every process', async () => {
  const { one, two } = nodes;
  const link = async (): Promise<string> => linkOf(cluster.reach(one), account.adminId);
  const sessions = [
    await openSession(cluster.reach(one), { link: await link() }),
    await openSession(cluster.reach(two), { link: await link() }),
  ];
  const [first, second] = sessions;
  assert.ok(first && second);
  for (const node of [one, two]) for (const { token } of sessions) assert.equal(await statusAt(node, token), 200);
  const feed = await openFeed(one, { token: first.token });
  try {
    expectStatus(await call(two, `DELETE ${sessionsPath}`, { token: second.token }), 204);
    for (const { token, cookie } of sessions) {
      assert.equal(await statusAt(two, token), 401);
      await until(async () => (await statusAt(one, token)) === 401, propagationMs);
      for (const node of [one, two]) expectStatus(await call(node, exchange, { headers: { cookie } }), 401);
    }
    await feed.ended;
  } finally {
    await feed.close();
  }
  assert.equal(await statusAt(one, account.admin), 200);
});

test('an invitation is accepted once, even through several processes', async () => {
  const { one, two } = nodes;
  const invitation = await invite(cluster.reach(one), account, account.adminId);
  const body = { invitation, password: 'a lamp by the river' };
  const answers = await Promise.all(
    [one, two, one, two].map(async (node) => call(node, 'POST /operator_authentication/invitations/accept', { body })),
  );
  assert.deepEqual(statusesOf(answers), [201, 404, 404, 404]);
  const winner = answers.find(({ status }) => status === 201);
  assert.ok(winner);
  const { token, cookie } = sessionOf(winner);
  for (const node of [one, two]) {
    assert.equal(await statusAt(node, token), 200);
    expectStatus(await call(node, exchange, { headers: { cookie } }), 200);
  }
});

test('a session outlives the process that opened it', async () => {
  const { one, two } = nodes;
  const { cookie } = await openSession(cluster.reach(one), { link: await linkOf(cluster.reach(one), account.adminId) });
  await one.stop('SIGKILL');
  const { token } = expectStatus(await call(two, exchange, { headers: { cookie } }), 200).body;
  assert.equal(await statusAt(two, token), 200);
});
