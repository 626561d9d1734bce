import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OperatorId, SiteId, TeamId } from '../../../platform/ids.ts';
import { nextDue } from '../board.ts';
import { mediaSet } from '../structures/media.ts';
import { Desk } from '../../../../../../test/support/board/desk.ts';

/** Matching of tickets and operators: D4. */

const ranked = (ranks: Record<string, number>) => ({
  rankingEnabled: true,
  ranks: new Map(Object.entries(ranks) as [OperatorId, number][]),
});
const kept = (sec: number) => ({ affinityMs: sec * 1000 });

test('D4.1 an operator who becomes free is offered the ticket that has waited longest in all queues they staff', () => {
  const desk = new Desk();
  desk.operator('ann', desk.inTeams('sales'));
  desk.queue('one');
  desk.queue('two');
  desk.queue('three', { teams: ['support' as TeamId], whenUnstaffed: 'accept' });
  desk.engage('una', 'ann', { queues: ['one'] });
  desk.enqueue('vic', { queues: ['three'], teams: ['support'] });
  desk.enqueue('wes', { queues: ['two'] });
  desk.enqueue('xan', { queues: ['one'] });
  desk.end(desk.engagement('una'), 'visitor');
  assert.deepEqual([desk.offered('vic'), desk.offered('wes'), desk.offered('xan')], [null, 'ann', null]);
});

test('D4.1 a ticket keeps its position after a decline or a time-out', () => {
  const desk = new Desk({ missedMakesUnavailable: false });
  desk.operator('ann');
  desk.queue('queue');
  desk.enqueue('vic');
  desk.enqueue('wes');
  desk.answer('ann', 'decline');
  assert.equal(
    desk.offered('vic'),
    'ann',
    'ann is offered vic again, because no other operator can take the ticket, before wes, who came later',
  );
  desk.wait(30);
  assert.equal(desk.offered('vic'), 'ann');
});

test('D4.2 operators are ordered by rank, then load, then time since the last new engagement, then id', () => {
  const desk = new Desk();
  const most = { maxEngagements: 3 };
  for (const name of ['dan', 'cat', 'ben', 'ann']) desk.operator(name, most);
  desk.queue('queue', ranked({ dan: 2 }));
  desk.queue('plain', { ...ranked({ cat: 1 }), rankingEnabled: false });
  desk.engage('una', 'dan', { queues: ['queue'] });
  desk.wait(1);
  desk.engage('vic', 'ann', { queues: ['plain'] });
  desk.end(desk.engagement('vic'), 'operator');
  desk.engage('wes', 'ben', { queues: ['plain'] });
  desk.wait(1);
  desk.engage('xan', 'cat', { queues: ['plain'] });
  desk.wait(1);
  desk.engage('yve', 'ann', { queues: ['plain'] });
  desk.engage('zoe', 'dan', { queues: ['plain'] });
  desk.engage('zac', 'dan', { queues: ['queue'] });
});

test('D4.2 a rank counts only in its own queue', () => {
  const desk = new Desk();
  desk.operator('ann');
  desk.operator('ben');
  desk.queue('plain');
  desk.queue('ranking', ranked({ ben: 3 }));
  desk.enqueue('vic');
  assert.deepEqual([desk.offered('vic'), desk.offeredFrom('vic')], ['ben', 'ranking']);
  desk.enqueue('wes');
  assert.deepEqual(
    [desk.offered('wes'), desk.offeredFrom('wes')],
    ['ann', 'plain'],
    'unranked: the first of its entries',
  );
});

test('D4.2 the best ranked operator in the teams that the ticket names is chosen', () => {
  const desk = new Desk();
  desk.operator('ann', desk.inTeams('support'));
  desk.operator('ben', desk.inTeams('sales'));
  desk.operator('cat', desk.inTeams('sales'));
  desk.queue('queue', ranked({ ann: 1, cat: 2 }));
  desk.enqueue('vic', { requiredTeams: ['sales'] });
  assert.equal(desk.offered('vic'), 'cat');
});

test('D4.3 during the affinity window only the last operator is offered the ticket, online or not; then anybody', () => {
  const desk = new Desk();
  desk.operator('ann');
  desk.operator('ben', { available: false });
  desk.queue('queue', kept(60));
  desk.enqueue('vic', { last: 'ben' });
  assert.equal(desk.offered('vic'), null);
  assert.equal(nextDue(desk.board), desk.now + 60_000);
  desk.wait(59);
  assert.equal(desk.offered('vic'), null);
  desk.wait(1);
  assert.equal(desk.offered('vic'), 'ann');
});

test('D4.3 the last operator is offered the ticket on arrival, before operators who have been free for longer', () => {
  const desk = new Desk();
  desk.operator('ann');
  desk.operator('ben', { available: false });
  desk.queue('queue', kept(60));
  desk.enqueue('vic', { last: 'ben' });
  desk.present('ben', true);
  assert.equal(desk.offered('vic'), 'ben');
});

test('D4.3 other queues of the ticket are not held', () => {
  const desk = new Desk();
  desk.operator('ann');
  desk.operator('ben', { available: false });
  desk.queue('kept', kept(60));
  desk.queue('plain');
  desk.enqueue('vic', { last: 'ben' });
  assert.deepEqual([desk.offered('vic'), desk.offeredFrom('vic')], ['ann', 'plain']);
});

test('D4.3 there is no hold for an operator who cannot staff the queue, and a hold ends when they no longer can', () => {
  const desk = new Desk();
  const keptFor = (visitor: string, last: string) => {
    desk.operator('ann');
    desk.queue('queue', { ...kept(60), teams: ['sales' as TeamId], whenUnstaffed: 'accept' });
    desk.operator('ann', desk.inTeams('sales'));
    desk.enqueue(visitor, { last, teams: ['sales'] });
    const found = desk.offered(visitor);
    if (found !== null) desk.answer(found, 'decline');
    desk.cancel(visitor);
    return found;
  };
  assert.equal(keptFor('una', 'nobody'), 'ann');
  desk.operator('ben', { ...desk.inTeams('sales'), enabled: false });
  assert.equal(keptFor('vic', 'ben'), 'ann');
  desk.operator('ben', desk.inTeams('support'));
  assert.equal(keptFor('wes', 'ben'), 'ann');
  desk.operator('ben', { ...desk.inTeams('sales'), available: false });
  assert.equal(keptFor('xan', 'ben'), null);
});

test('D4.3 disabling an operator ends the holds of both tickets at once', () => {
  const desk = new Desk();
  desk.operator('ann', { maxEngagements: 2 });
  desk.operator('ben', { available: false });
  desk.queue('queue', kept(60));
  desk.enqueue('vic', { last: 'ben' });
  desk.enqueue('wes', { last: 'ben' });
  desk.operator('ben', { enabled: false });
  assert.deepEqual([desk.offered('vic'), desk.offered('wes')], ['ann', 'ann']);
});

test('D4.9 the hold ends when the last operator declines', () => {
  const desk = new Desk();
  desk.operator('ann');
  desk.operator('ben');
  desk.queue('queue', kept(60));
  desk.enqueue('vic', { last: 'ben' });
  desk.answer('ben', 'decline');
  assert.equal(desk.offered('vic'), 'ann');
});

test('D4.4 an operator takes max_engagement_count texts at a time; phone, audio and video are exclusive', () => {
  const desk = new Desk();
  desk.operator('ann', { maxEngagements: 2 });
  desk.queue('queue');
  desk.engage('una', 'ann');
  desk.enqueue('vic', { medium: 'audio' });
  assert.equal(desk.offered('vic'), null, 'ann has a text engagement');
  desk.enqueue('wes');
  assert.equal(desk.offered('wes'), 'ann', 'ann has room for a second text');
  desk.enqueue('xan');
  assert.equal(desk.offered('xan'), null, 'ann takes at most two');
  desk.cancel('xan');
  desk.cancel('wes');
  desk.end(desk.engagement('una'), 'operator');
  assert.equal(desk.offered('vic'), 'ann');
  desk.answer('ann', 'accept');
  desk.enqueue('yve');
  assert.equal(desk.offered('yve'), null, 'audio blocks all other media');
});

test('D4.4 an operator of two sites is not overbooked', () => {
  const desk = new Desk();
  desk.site('elsewhere');
  const [here, there] = ['site', 'elsewhere'] as SiteId[];
  assert(here !== undefined && there !== undefined);
  desk.operator('ann', { sites: new Map([here, there].map((site) => [site, new Set()])) });
  desk.queue('one');
  desk.queue('two', { siteId: there });
  desk.enqueue('vic');
  desk.enqueue('wes', { site: 'elsewhere' });
  assert.deepEqual([desk.offered('vic'), desk.offered('wes')], ['ann', null]);
});

test('D4.5, D4.8 an offer times out after the site’s time; a declined ticket is not offered to the same operator for 60 s, unless nobody else can take it', () => {
  const desk = new Desk({ reactiveMs: 20_000, missedMakesUnavailable: false });
  desk.operator('ann');
  desk.operator('ben');
  desk.queue('queue');
  desk.enqueue('vic');
  assert.equal(desk.offered('vic'), 'ann');
  desk.wait(19);
  assert.equal(desk.offered('vic'), 'ann');
  desk.wait(1);
  assert.equal(desk.offered('vic'), 'ben');
  desk.answer('ben', 'accept');
  desk.enqueue('wes');
  desk.answer('ann', 'decline');
  assert.equal(desk.offered('wes'), null, 'ben is engaged, but can take the ticket later');
  desk.wait(59);
  assert.equal(desk.offered('wes'), null);
  desk.wait(1);
  assert.equal(desk.offered('wes'), 'ann');
  desk.answer('ann', 'decline');
  assert.equal(desk.offered('wes'), null);
  desk.present('ben', false);
  assert.equal(desk.offered('wes'), 'ann', 'no other operator is left');
});

test('D4.5 an operator who missed an offer becomes unavailable if the site says so, and their other offers fail', () => {
  const desk = new Desk();
  desk.operator('ann', { maxEngagements: 2 });
  desk.queue('queue', { whenUnstaffed: 'accept' });
  desk.enqueue('vic');
  desk.wait(10);
  desk.enqueue('wes');
  desk.wait(20);
  assert.equal(desk.board.operators.get('ann' as OperatorId)?.settings.available, false);
  const reasons = desk.events.map(
    ({ type, fields }) => type === 'engagement.request.failure' && fields.engagement_request.fail_reason,
  );
  assert.deepEqual(reasons, ['timed_out', 'operator_left']);
  assert.deepEqual([desk.ticket('vic').position, desk.ticket('wes').position], [1, 2]);
  desk.present('ann', true);
  assert.deepEqual([desk.offered('vic'), desk.offered('wes')], ['ann', 'ann']);
});

test('D4.5 an operator’s request times out after the proactive time, and nobody becomes unavailable', () => {
  const desk = new Desk();
  desk.operator('ann');
  desk.request('operator', 'vic', 'ann');
  desk.wait(14);
  assert.equal(desk.events.length, 0);
  desk.wait(1);
  assert.equal(desk.events.length, 1);
  assert.equal(desk.board.operators.get('ann' as OperatorId)?.settings.available, true);
});

test('D4.6 any change that makes an operator and a ticket match makes the offer in the same turn', () => {
  const waiting = (): Desk => {
    const desk = new Desk();
    desk.queue('queue', { whenUnstaffed: 'accept', teams: ['sales' as TeamId] });
    desk.operator('ann', { ...desk.inTeams('support'), available: false });
    desk.enqueue('vic', { medium: 'audio', teams: ['sales'] });
    return desk;
  };
  const causes: readonly ((desk: Desk) => void)[] = [
    (desk) => desk.operator('ann', desk.inTeams('sales')),
    (desk) => desk.operator('ben', desk.inTeams('sales')),
    (desk) => {
      desk.queue('queue', { whenUnstaffed: 'accept' });
      desk.present('ann', true);
    },
    (desk) => {
      desk.present('ann', true);
      desk.queue('queue', { whenUnstaffed: 'accept', teams: ['support' as TeamId] });
    },
    (desk) => {
      desk.operator('ann', { ...desk.inTeams('sales'), media: mediaSet(['text']) });
      assert.equal(desk.offered('vic'), null);
      const said = { available: true, media: mediaSet(['audio']), leaseMs: null, reason: null };
      desk.ask({ name: 'setPresence', operatorId: 'ann' as OperatorId, ...said });
    },
  ];
  for (const cause of causes) {
    const desk = waiting();
    cause(desk);
    assert.equal(desk.ticket('vic').state, 'offered', String(cause));
  }
});
