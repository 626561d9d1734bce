import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { mock, test } from 'node:test';
import type { Caller } from '../identity/caller.ts';
import { Refusal } from '../platform/errors.ts';
import type { AccountId, OperatorId, SiteId, VisitorId } from '../platform/ids.ts';
import { FeedAdmission } from './admission.ts';

const visitor = (id: string, trust: 'publishable' | 'secret' = 'publishable'): Caller => ({
  kind: 'visitor',
  key: `visitor:${id}`,
  accountId: 'account' as AccountId,
  visitorId: id as VisitorId,
  siteId: 'site' as SiteId,
  trust,
});

const operator = (id: string): Caller => ({
  kind: 'operator',
  key: `operator:${id}`,
  accountId: 'account' as AccountId,
  operatorId: id as OperatorId,
  isMadeUp: false,
  limited: false,
  roles: new Map(),
  credentialId: 'key',
  token: { kind: 'signed', id: 'token', expiresAt: new Date() },
  sessionId: null,
});

/** A response that has not begun. Admission reads only whether it is closed. */
function fakeResponse(): ServerResponse {
  return Object.assign(new EventEmitter(), { closed: false }) as unknown as ServerResponse;
}

function close(response: ServerResponse): void {
  response.emit('close');
}

function makeAdmission({ feeds = 1_000, visitorFeeds = 800, perAddress = 1_000 } = {}) {
  const closed: ServerResponse[] = [];
  const admission = new FeedAdmission({
    limits: { feeds, visitorFeeds },
    maxPerAddress: async () => perAddress,
    close: (response) => {
      closed.push(response);
      close(response);
    },
  });
  const open = async (caller: Caller, address = 'here'): Promise<ServerResponse | string> => {
    const response = fakeResponse();
    try {
      await admission.admit({ caller, address, response });
      return response;
    } catch (error) {
      assert(error instanceof Refusal && error.headers['retry-after'] !== undefined);
      return error.code;
    }
  };
  const opened = async (caller: Caller, address?: string): Promise<ServerResponse> => {
    const response = await open(caller, address);
    assert(typeof response !== 'string', 'the feed was refused');
    return response;
  };
  return { open, opened, closed };
}

test('operators can open feeds when the share of visitors is used up', async () => {
  const { open, opened } = makeAdmission({ feeds: 10, visitorFeeds: 8 });
  const taken = await Promise.all(
    Array.from({ length: 20 }, async (_, index) => open(visitor(String(index), 'secret'), String(index))),
  );
  const admitted = taken.filter((each) => typeof each !== 'string');
  assert.equal(admitted.length, 8);
  assert.ok(taken.every((each) => typeof each !== 'string' || each === 'too_busy'));
  await opened(operator('ann'));
  await opened(operator('ben'));
  assert.equal(await open(operator('cat')), 'too_busy');
  const [first] = admitted;
  if (first !== undefined) close(first);
  assert.equal(await open(visitor('late')).then((each) => typeof each), 'object');
});

test('one address has an exact limit of visitor feeds, and visitors of the customer’s own servers do not count', async () => {
  const { open, opened } = makeAdmission({ perAddress: 5 });
  const answers = await Promise.all(
    Array.from({ length: 12 }, async (_, index) => open(visitor(String(index)), '2001:db8::' + String(index))),
  );
  assert.equal(answers.filter((each) => each === 'address_limit').length, 7);
  await opened(visitor('elsewhere'), '2001:db8:0:1::1');
  await opened(visitor('bridged', 'secret'), '2001:db8::1');
  await opened(operator('ann'), '2001:db8::1');
  const [first] = answers;
  assert(typeof first === 'object');
  close(first);
  await opened(visitor('next'), '2001:db8::1');
  assert.equal(await open(visitor('one more'), '2001:db8::1'), 'address_limit');
});

test('an eleventh feed of a visitor closes the oldest one, unless that one is younger than 30 s', async () => {
  let now = 0;
  const clock = mock.method(performance, 'now', () => now);
  try {
    const { open, opened, closed } = makeAdmission();
    const first = await opened(visitor('vic'));
    for (let tabs = 1; tabs < 10; tabs += 1) await opened(visitor('vic'));
    assert.equal(await open(visitor('vic')), 'rate_limited');
    assert.deepEqual(closed, []);
    now += 30_000;
    await opened(visitor('vic'));
    assert.equal(closed.length, 1);
    assert.equal(closed[0], first);
    await opened(visitor('wes'));
  } finally {
    clock.mock.restore();
  }
});
