import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { QueueId, SiteId, TeamId } from '../../../platform/ids.ts';
import { mediaSet } from '../structures/media.ts';
import { Desk, hoursOf } from '../../../../../../test/support/board/desk.ts';

/** Admission to queues: D1.2–D1.6, D2 and D3.1–D3.4. */

const fixed = (capacity: number) => ({ capacityPolicy: { type: 'fixed' as const, capacity } });
const variable = (multiplier: number) => ({ capacityPolicy: { type: 'variable' as const, multiplier } });
const to = (queue: string) => ({ fallbackId: queue as QueueId });
const teams = (...names: string[]) => ({ teams: names as TeamId[] });
const lateHours = hoursOf(['09:00', '17:00']);

test('D1.2 closed takes precedence over unstaffed, unstaffed over full', () => {
  const desk = new Desk();
  desk.queue('queue', { ...fixed(0), hours: lateHours });
  assert.equal(desk.refusal(() => desk.enqueue('vic')).code, 'queue_closed');
  desk.wait(300);
  assert.equal(desk.refusal(() => desk.enqueue('vic')).code, 'queue_unstaffed');
  desk.operator('ann');
  assert.equal(desk.refusal(() => desk.enqueue('vic')).code, 'queue_full');
  desk.queue('queue', fixed(1));
  assert.equal(desk.enqueue('vic').state, 'offered');
});

test('D1.3 an unstaffed queue that accepts admits visitors until it is full; with a variable capacity it is full', () => {
  const desk = new Desk();
  desk.queue('queue', { ...fixed(1), whenUnstaffed: 'accept' });
  desk.enqueue('vic');
  assert.equal(desk.refusal(() => desk.enqueue('wes')).code, 'queue_full');
  desk.queue('other', { ...variable(5), whenUnstaffed: 'accept' });
  assert.equal(desk.refusal(() => desk.enqueue('wes', { queues: ['other'] })).code, 'queue_full');
});

test('D1.4 a visitor whom a queue does not admit enters the first fallback that admits them, also on another site', () => {
  const desk = new Desk();
  desk.site('elsewhere');
  desk.operator('ann', { sites: new Map([['elsewhere' as SiteId, new Set()]]) });
  desk.queue('last', { siteId: 'elsewhere' as SiteId });
  desk.queue('middle', { ...to('last'), ...fixed(0) });
  desk.queue('first', { ...to('middle'), hours: lateHours });
  const ticket = desk.enqueue('vic', { queues: ['first'] });
  assert.deepEqual([ticket.queueIds, ticket.siteId, desk.offeredFrom('vic')], [['last'], 'site', 'last']);
});

test('D1.4 a cycle of fallbacks does not hang the board', () => {
  const desk = new Desk();
  desk.queue('one', to('two'));
  desk.queue('two', to('one'));
  assert.equal(desk.refusal(() => desk.enqueue('vic', { queues: ['one'] })).code, 'queue_unstaffed');
});

test('D1.5 a queue without a scheduling policy is always open', () => {
  const desk = new Desk();
  desk.operator('ann');
  desk.queue('queue');
  desk.wait(86_400 * 3);
  assert.equal(desk.enqueue('vic').state, 'offered');
});

test('D1.6 a medium that no staff takes is not admitted; a queue that accepts without staff admits all its media', () => {
  const desk = new Desk();
  desk.queue('queue', { media: mediaSet(['text', 'video']), whenUnstaffed: 'accept' });
  assert.equal(desk.enqueue('vic', { medium: 'video' }).state, 'waiting');
  desk.operator('ann', { media: mediaSet(['text', 'audio']), maxEngagements: 3 });
  assert.equal(desk.refusal(() => desk.enqueue('wes', { medium: 'video' })).code, 'queue_unstaffed');
  assert.equal(desk.refusal(() => desk.enqueue('wes', { medium: 'audio' })).code, 'no_matching_queue');
  assert.equal(desk.enqueue('wes', { medium: 'text' }).state, 'offered');
});

test('D2.1 an operator staffs a queue if enabled, on its site, in one of its teams, available, and taking one of its media', () => {
  const desk = new Desk();
  desk.site('elsewhere');
  desk.queue('queue', { ...teams('sales'), media: mediaSet(['text']) });
  const rightTeam = desk.inTeams('sales', 'more');
  const wrong = [
    { ...rightTeam, enabled: false },
    { sites: new Map([['elsewhere' as SiteId, new Set(['sales' as TeamId])]]) },
    desk.inTeams('support'),
    { ...rightTeam, available: false },
    { ...rightTeam, media: mediaSet(['audio', 'video', 'phone']) },
    { ...rightTeam, leaseUntil: desk.now },
  ];
  for (const settings of wrong) {
    desk.operator('ann', settings);
    assert.equal(desk.refusal(() => desk.enqueue('vic', { teams: ['sales'] })).code, 'queue_unstaffed');
  }
  desk.operator('ann', rightTeam);
  desk.engage('vic', 'ann', { teams: ['sales'] });
  assert.equal(
    desk.enqueue('wes', { teams: ['sales'] }).state,
    'waiting',
    'an engaged operator still staffs the queue',
  );
});

test('D2.2 offered visitors are in the queue, engaged ones are not; a visitor in three queues counts in each', () => {
  const desk = new Desk();
  desk.operator('ann');
  const queues = ['one', 'two', 'three'].map((name) => desk.queue(name));
  const count = () => queues.map(({ visitors }) => visitors);
  desk.enqueue('vic');
  desk.enqueue('wes');
  assert.deepEqual([desk.offered('vic'), count()], ['ann', [2, 2, 2]]);
  desk.answer('ann', 'accept');
  assert.deepEqual(count(), [1, 1, 1]);
  assert.deepEqual(desk.visits.map(({ queueId, outcome }) => [queueId, outcome]), [
    ['one', 'engaged'],
    ['two', 'engaged_elsewhere'],
    ['three', 'engaged_elsewhere'],
  ]); // prettier-ignore
});

test('D2.3 of 1,000 visitors exactly the 10 that fit are admitted', () => {
  const desk = new Desk();
  desk.operator('ann');
  desk.engage('una', 'ann', { queues: [desk.queue('queue', fixed(10)).settings.id] });
  const came = Array.from({ length: 1_000 }, (_, number) => {
    try {
      return desk.enqueue(`visitor ${number}`).state;
    } catch {
      return 'refused';
    }
  });
  assert.deepEqual(
    [came.filter((state) => state === 'waiting').length, came.slice(10).includes('waiting')],
    [10, false],
  );
  desk.cancel('visitor 3');
  assert.equal(desk.enqueue('zoe').position, 10);
});

test('D2.4 a lower capacity or lost staff evicts nobody and only stops admission', () => {
  const desk = new Desk();
  desk.operator('ann');
  desk.operator('ben');
  const queue = desk.queue('queue', { ...variable(2), whenUnstaffed: 'accept' });
  for (const visitor of ['una', 'vic', 'wes', 'xan']) desk.enqueue(visitor);
  assert.equal(desk.refusal(() => desk.enqueue('yve')).code, 'queue_full');
  desk.present('ben', false);
  desk.present('ann', false);
  assert.equal(queue.visitors, 4);
  desk.queue('queue', { ...fixed(0), whenUnstaffed: 'accept' });
  assert.equal(queue.visitors, 4);
  assert.equal(desk.refusal(() => desk.enqueue('yve')).code, 'queue_full');
});

test('D2.5 a variable capacity is rounded down', () => {
  const desk = new Desk();
  desk.operator('ann');
  desk.operator('ben');
  desk.queue('queue', variable(0.9));
  desk.enqueue('vic');
  assert.equal(desk.refusal(() => desk.enqueue('wes')).code, 'queue_full');
});

test('D3.1, D3.11 a ticket without queues waits in every queue of the site; team_ids limits it to operators of these teams', () => {
  const desk = new Desk();
  desk.site('elsewhere');
  desk.queue('one');
  desk.queue('two');
  desk.queue('three', { siteId: 'elsewhere' as SiteId });
  desk.operator('ann', desk.inTeams('sales'));
  desk.operator('ben', desk.inTeams('support'));
  assert.deepEqual(desk.enqueue('vic', { requiredTeams: ['support'] }).queueIds, ['one', 'two']);
  assert.equal(desk.offered('vic'), 'ben');
  assert.equal(
    desk.enqueue('wes', { requiredTeams: ['support'] }).state,
    'waiting',
    'ann is free, but not in the team',
  );
  assert.equal(desk.refusal(() => desk.enqueue('xan', { requiredTeams: ['repairs'] })).code, 'queue_unstaffed');
});

test('D3.1 every queue that is not on the site is reported with its index', () => {
  const desk = new Desk();
  desk.site('elsewhere');
  desk.queue('one');
  desk.queue('two', { siteId: 'elsewhere' as SiteId });
  const { code, details } = desk.refusal(() => desk.enqueue('vic', { queues: ['one', 'two', 'three'] }));
  assert.deepEqual(
    [code, details],
    ['invalid_request', ['/queue_ids/1 is not a queue of the site', '/queue_ids/2 is not a queue of the site']],
  );
});

test('D3.2 a ticket waits in all queues that its candidates resolve to, once in each', () => {
  const desk = new Desk();
  desk.operator('ann');
  desk.queue('common');
  desk.queue('one', { ...to('common'), ...fixed(0) });
  desk.queue('two', { ...to('common'), hours: lateHours });
  desk.queue('three', teams('sales'));
  const ticket = desk.enqueue('vic', { queues: ['one', 'two', 'common', 'three', 'one'] });
  assert.deepEqual(ticket.queueIds, ['common']);
});

test('D3.2 a queue with teams admits visitors of these teams; a queue without teams admits every visitor', () => {
  const desk = new Desk();
  desk.operator('ann', desk.inTeams('sales'));
  desk.queue('sales', teams('sales', 'more'));
  assert.equal(desk.refusal(() => desk.enqueue('vic', { teams: ['support'] })).code, 'no_matching_queue');
  assert.deepEqual(desk.enqueue('vic', { teams: ['support', 'more'] }).queueIds, ['sales']);
  desk.queue('all');
  assert.deepEqual(desk.enqueue('wes', { teams: ['support'] }).queueIds, ['all']);
});

test('D3.3, D3.9 the most hopeful reason is the code, and the details give the reason of each candidate', () => {
  const desk = new Desk();
  desk.operator('ann');
  desk.queue('mute', { media: mediaSet(['phone']) });
  desk.queue('shut', { hours: lateHours });
  desk.queue('empty', teams('sales'));
  desk.queue('crowded', fixed(0));
  const ask = (...queues: string[]) => desk.refusal(() => desk.enqueue('vic', { queues, teams: ['sales'] }));
  assert.deepEqual(ask('mute', 'shut', 'empty', 'crowded'), {
    code: 'queue_full',
    details: [
      '/queue_ids/0 no_matching_queue: queue mute does not match the media or the teams of the visitor',
      '/queue_ids/1 queue_closed: queue shut is closed',
      '/queue_ids/2 queue_unstaffed: queue empty has no available operator for this visitor',
      '/queue_ids/3 queue_full: queue crowded is full',
    ],
  });
  assert.equal(ask('empty', 'shut', 'mute').code, 'queue_unstaffed');
  assert.equal(ask('shut', 'mute').code, 'queue_closed');
  assert.equal(ask('mute').code, 'no_matching_queue');
});

test('D3.3 a site without queues refuses with no_matching_queue', () => {
  const desk = new Desk();
  assert.equal(desk.refusal(() => desk.enqueue('vic')).code, 'no_matching_queue');
});

test('D3.4 the same criteria return the same ticket, other criteria are a conflict; another site may have another ticket', () => {
  const desk = new Desk();
  desk.site('elsewhere');
  desk.queue('one', { whenUnstaffed: 'accept' });
  desk.queue('two', { whenUnstaffed: 'accept' });
  desk.queue('three', { whenUnstaffed: 'accept', siteId: 'elsewhere' as SiteId });
  const first = desk.enqueue('vic', { queues: ['one', 'two'] });
  assert.equal(desk.enqueue('vic', { queues: ['two', 'one', 'two'] }).id, first.id);
  assert.equal(desk.refusal(() => desk.enqueue('vic')).code, 'ticket_conflict');
  assert.equal(
    desk.refusal(() => desk.enqueue('vic', { queues: ['one', 'two'], medium: 'audio' })).code,
    'ticket_conflict',
  );
  assert.notEqual(desk.enqueue('vic', { site: 'elsewhere' }).id, first.id);
});

test('D3.4 an engaged visitor is refused on the same site only', () => {
  const desk = new Desk();
  desk.site('elsewhere');
  desk.operator('ann');
  desk.queue('one');
  desk.queue('two', { whenUnstaffed: 'accept', siteId: 'elsewhere' as SiteId });
  desk.engage('vic', 'ann');
  assert.equal(desk.refusal(() => desk.enqueue('vic')).code, 'already_engaged');
  assert.equal(desk.refusal(() => desk.request('visitor', 'vic', 'ann')).code, 'already_engaged');
  assert.equal(desk.enqueue('vic', { site: 'elsewhere' }).state, 'waiting');
});
