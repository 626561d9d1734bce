import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Role } from '@usher/contract/roles';
import type { Caller } from '../identity/caller.ts';
import type { AccountId, OperatorId, SiteId, VisitorId } from '../platform/ids.ts';
import { keysOf, opensTo, opensToAll, opensToColleagues, opensToPrevious, opensToSide, type Key } from './audience.ts';

const operator = (id: string, roles: Readonly<Record<string, Role>>): Caller => ({
  kind: 'operator',
  key: id,
  accountId: 'account' as AccountId,
  operatorId: id as OperatorId,
  isMadeUp: false,
  limited: false,
  roles: new Map(Object.entries(roles) as [SiteId, Role][]),
  credentialId: 'key',
  token: { kind: 'signed', id: 'token', expiresAt: new Date() },
  sessionId: null,
});
const visitor = (id: string, site: string): Caller => ({
  kind: 'visitor',
  key: id,
  accountId: 'account' as AccountId,
  visitorId: id as VisitorId,
  siteId: site as SiteId,
  trust: 'secret',
});

const everybody: Readonly<Record<string, Caller>> = {
  ann: operator('ann', { shop: 'operator' }),
  bob: operator('bob', { shop: 'operator', bank: 'operator' }),
  max: operator('max', { shop: 'manager', bank: 'operator' }),
  sue: operator('sue', { bank: 'super_manager' }),
  vic: visitor('vic', 'shop'),
  wes: visitor('wes', 'bank'),
};

function seenBy(keys: readonly Key[]): string {
  return Object.entries(everybody)
    .filter(([, caller]) => keysOf(caller).some((key) => keys.includes(key)))
    .map(([name]) => name)
    .join(' ');
}

test('visitors and operators see items about themselves, managers all items of their sites', () => {
  const talk = { siteId: 'shop', visitorId: 'vic', operatorId: 'ann' };
  const previous = { engagement: { previous_sub_engagement: { operator_id: 'bob', site_id: 'bank' } } };
  const expected: readonly [readonly Key[], string][] = [
    [opensTo('engagement.chat.message', talk), 'ann max vic'],
    [opensTo('engagement.chat.system_message', talk), 'ann max'],
    [opensTo('transfer_request.state', talk), 'ann max'],
    [opensTo('engagement.start', { ...talk, siteId: 'bank' }), 'sue vic'],
    [opensTo('sip_domain.delete', { siteId: 'shop' }), 'max'],
    [opensTo('queue_ticket.state', { visitorId: 'wes' }), 'wes'],
    [opensTo('engagement.end', {}), ''],
    [opensToPrevious(previous), 'bob sue'],
    [opensToPrevious({}), ''],
    [opensToSide({ kind: 'visitor', id: 'vic', siteId: 'shop' }), 'vic'],
    [opensToSide({ kind: 'operator', id: 'ann', siteId: 'shop' }), 'ann'],
    [opensToSide({ kind: 'operator', id: 'ann', siteId: 'bank' }), ''],
    [opensToAll('shop', 'operator'), 'ann bob max'],
    [opensToAll('bank', 'visitor'), 'wes'],
    [opensToColleagues('bob', ['shop', 'bank']), 'bob max sue'],
  ];
  for (const [keys, names] of expected) assert.equal(seenBy(keys), names, keys.join());
});

test('a token for some sites has no keys of other sites, and an application token has none at all', () => {
  const limited = operator('bob', { bank: 'operator' });
  const keys = opensTo('engagement.start', { siteId: 'shop', visitorId: 'vic', operatorId: 'bob' });
  assert.ok(!keysOf(limited).some((key) => keys.includes(key)));
  const application: Caller = {
    kind: 'application',
    key: 'a',
    accountId: 'account' as AccountId,
    applicationTokenId: 'a',
    siteId: 'shop' as SiteId,
    trust: 'secret',
  };
  assert.deepEqual(keysOf(application), []);
});
