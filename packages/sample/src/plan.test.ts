import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Action, Clock } from './action.ts';
import { chance, poisson } from './chance.ts';
import { arrivalsPerMinute, breakReason, maxVisitors, plan } from './plan.ts';
import { players, queues } from './scene.ts';
import type { World, WorldEngagement, WorldOperator, WorldRequest } from './world.ts';

const noon = Date.parse('2027-03-03T12:00:00Z');
const clock: Clock = { seed: 7, now: noon, since: noon, speed: 1 };
const nothing: World = { operators: [], teams: [], queues: [], tickets: [], requests: [], engagements: [] };
const sceneQueues = queues.map(({ name, media }) => ({ id: `queue ${name}`, name, media }));

const player = (index: number, more: Partial<WorldOperator> = {}): WorldOperator => ({
  id: `operator ${index}`,
  player: index,
  enabled: true,
  available: true,
  reason: null,
  setAt: noon - 1_000,
  expiresAt: noon + 80_000,
  ...more,
});
const person: WorldOperator = { ...player(0), id: 'person', player: null, expiresAt: null };

function engagement(more: Partial<WorldEngagement> = {}): WorldEngagement {
  return {
    id: 'engagement',
    operatorId: player(0).id,
    visitorId: 'visitor',
    simulated: true,
    queueId: null,
    media: 'text',
    startedAt: noon,
    isTransferred: false,
    isTransferring: false,
    messageCounts: { visitor: 0, operator: 0 },
    last: null,
    upgrade: null,
    ...more,
  };
}

const request = (id: string, more: Partial<WorldRequest> = {}): WorldRequest => ({
  id: id,
  kind: 'ticket',
  origin: 'visitor',
  operatorId: player(0).id,
  visitorId: 'visitor',
  simulated: true,
  ofSite: true,
  createdAt: noon - 7_000,
  ...more,
});

const done = (world: Partial<World>, at: Partial<Clock> = {}): Action[] =>
  plan({ ...nothing, ...world }, { ...clock, ...at });
const after = (seconds: number): Partial<Clock> => ({ now: noon + seconds * 1_000, since: noon + seconds * 1_000 });

test('chance is determined by seed and arguments, and evenly distributed', () => {
  assert.equal(chance(1, 'a', 2), chance(1, 'a', 2));
  assert.notEqual(chance(1, 'a', 2), chance(2, 'a', 2));
  const drawn = Array.from({ length: 10_000 }, (_, index) => chance(3, 'x', index));
  const tenths = Array.from({ length: 10 }, (_, tenth) => drawn.filter((at) => Math.floor(at * 10) === tenth).length);
  for (const count of tenths) assert.ok(count > 850 && count < 1_150, String(tenths));
});

test('poisson draws have the expected mean', () => {
  const drawn = Array.from({ length: 20_000 }, (_, index) => poisson(0.3, chance(5, index)));
  const mean = drawn.reduce((sum, count) => sum + count, 0) / drawn.length;
  assert.ok(Math.abs(mean - 0.3) < 0.02, String(mean));
  assert.equal(poisson(0.3, 0), 0);
  assert.ok(poisson(0.3, 1) <= 20, 'it ends, whatever rounding does');
});

test('the same world at the same time gives the same plan', () => {
  const world = { ...nothing, queues: sceneQueues, operators: players.map((_, index) => player(index)) };
  const at = { ...clock, since: noon - 5_000 };
  assert.deepEqual(plan(world, at), plan(world, at));
});

test('arrivals over an hour match the rate of the time of day, at most 20 per minute', () => {
  for (const hour of Array.from({ length: 24 }, (_, each) => each)) {
    const rate = arrivalsPerMinute(Date.parse('2027-03-03T00:00:00Z') + hour * 3_600_000);
    assert.ok(rate >= 8 && rate <= 20, `${hour}: ${rate}`);
  }
  let arrivals = 0;
  for (let second = 1; second <= 3_600; second += 1) {
    const now = noon + second * 1_000;
    arrivals += done({ queues: sceneQueues }, { now, since: now - 1_000 }).filter(
      (each) => each.do === 'arrive',
    ).length;
  }
  const expected = arrivalsPerMinute(noon + 1_800_000) * 60;
  assert.ok(Math.abs(arrivals - expected) < expected * 0.2, `${arrivals} of ${expected}`);
});

test('nobody arrives without a queue or above the limit, and a long pause causes no rush', () => {
  const since = noon - 3_600_000;
  assert.deepEqual(done({}, { since }), []);
  const ticket = (index: number) => ({
    id: `ticket ${index}`,
    visitorId: `visitor ${index}`,
    simulated: true,
    enqueuedAt: noon,
  });
  const tickets = Array.from({ length: maxVisitors }, (_, index) => ticket(index));
  assert.deepEqual(done({ queues: sceneQueues, tickets }, { since }), []);
  assert.ok(done({ queues: sceneQueues }, { since }).length < 10);
});

test('simulated visitors abandon the queue within two minutes, real visitors never do', () => {
  const ticket = { id: 'ticket', visitorId: 'visitor', simulated: true, enqueuedAt: noon };
  assert.deepEqual(done({ tickets: [ticket] }), []);
  assert.deepEqual(
    done({ tickets: [ticket] }, after(121)).map((each) => each.do),
    ['abandon'],
  );
  assert.deepEqual(done({ tickets: [{ ...ticket, simulated: false }] }, after(10_000)), []);
});

test('offers to sample operators are answered after one to six seconds, offers to real operators never', () => {
  const operators = [player(0), person];
  const requests = Array.from({ length: 400 }, (_, index) => request(`request ${index}`, { createdAt: noon }));
  const presence = done({ operators }).length;
  assert.equal(done({ operators, requests }, { now: noon + 999 }).length, presence);
  const answers = done({ operators, requests }, { now: noon + 6_001 }).flatMap((each) =>
    each.do === 'answer' ? [each.answer] : [],
  );
  const accepted = answers.filter((each) => each === 'accept').length;
  assert.ok(accepted > 340 && accepted < 385, String(accepted));
  assert.ok(answers.length < 400 && answers.length > accepted, 'some pass, some are declined');
  const theirs = [request('theirs', { operatorId: person.id })];
  assert.ok(done({ operators, requests: theirs }).every((each) => each.do !== 'answer'));
});

test('a sample operator declines a visitor of another site at once', () => {
  const requests = [request('foreign', { simulated: false, ofSite: false, createdAt: noon })];
  const answer = done({ operators: [player(0)], requests }).find((each) => each.do === 'answer');
  assert.ok(answer?.do === 'answer' && answer.answer === 'decline');
});

test('a simulated visitor accepts a direct request', () => {
  const asked = request('direct', { kind: 'direct', origin: 'operator', operatorId: person.id });
  const [answer] = done({ operators: [person], requests: [asked] });
  assert.ok(answer?.do === 'answer' && answer.as.kind === 'visitor');
  assert.deepEqual(done({ operators: [person], requests: [{ ...asked, simulated: false }] }), []);
});

test('operators take breaks, stay away if a user set them to away, and leave visitors for a real operator', () => {
  const cycle = Array.from({ length: 480 }, (_, second) => after(second));
  const away = cycle.filter((at) => {
    const operators = [player(0, { expiresAt: null })];
    return done({ operators }, at).some((each) => each.do === 'set presence' && !each.available);
  });
  assert.ok(away.length >= 60 && away.length <= 120, String(away.length));

  const returns = (more: Partial<WorldOperator>): boolean =>
    cycle.some((at) => done({ operators: [player(0, { available: false, ...more })] }, at).length > 0);
  assert.ok(returns({ setAt: null, expiresAt: null }));
  assert.ok(returns({ reason: breakReason, expiresAt: null }));
  assert.ok(returns({ reason: 'missed_call', expiresAt: null }));
  assert.ok(!returns({ reason: null, expiresAt: null }), 'a user said so');
  assert.ok(!returns({ enabled: false, setAt: null }));

  const all = players.map((_, index) => player(index, { expiresAt: null }));
  const planned = done({ operators: [...all, person] });
  const gone = new Set(planned.flatMap((each) => (each.do === 'set presence' ? [each.operatorId] : [])));
  for (const [index, { stays }] of players.entries()) if (!stays) assert.ok(gone.has(player(index).id));
});

test('a conversation alternates between the sides and ends after 20 to 90 seconds', () => {
  const operators = [player(0)];
  const kinds = (more: Partial<WorldEngagement>, seconds: number): string[] =>
    done({ operators, engagements: [engagement(more)] }, { ...after(seconds), seed: 3 }).flatMap((each) =>
      'engagementId' in each ? [`${each.as.kind} ${each.do}`] : [],
    );
  assert.deepEqual(kinds({}, 0.2), []);
  assert.deepEqual(kinds({}, 6.1), ['visitor send']);
  const last = { id: 'm', from: 'visitor', at: noon, arrived: false, options: [] } as const;
  const asked = { messageCounts: { visitor: 1, operator: 0 }, last };
  assert.deepEqual(kinds(asked, 6.1), ['operator acknowledge', 'operator send']);
  assert.ok(!kinds({}, 19).some((each) => each.endsWith(' end')));
  assert.ok(kinds({}, 91).some((each) => each.endsWith(' end')));
});

test('a visitor chooses an option of a response card', () => {
  const options = [
    { text: 'A product', value: 'product' },
    { text: 'Delivery', value: 'delivery' },
  ];
  const last = { id: 'm', from: 'operator', at: noon, arrived: true, options } as const;
  const [message] = done({ operators: [person], engagements: [engagement({ operatorId: person.id, last })] }, after(7));
  assert.ok(message?.do === 'send' && options.some(({ value }) => value === message.chooses));
});

test('with a real operator only the visitor is simulated, and leaves when done or after minutes without an answer', () => {
  const alone = (more: Partial<WorldEngagement>, seconds: number): Action[] =>
    done({ operators: [person], engagements: [engagement({ operatorId: person.id, ...more })] }, after(seconds));
  const last = { id: 'm', from: 'visitor', at: noon, arrived: true, options: [] } as const;
  assert.deepEqual(alone({ last, messageCounts: { visitor: 1, operator: 0 } }, 170), []);
  const [end] = alone({ last, messageCounts: { visitor: 1, operator: 0 } }, 181);
  assert.ok(end?.do === 'end' && end.as.kind === 'visitor');
  const upgrade = { id: 'u', target: 'operator', pending: true, createdAt: noon } as const;
  assert.deepEqual(alone({ upgrade, last }, 60), []);
});

test('a real visitor is answered, and the engagement ends only after ten silent minutes', () => {
  const real = engagement({ simulated: false, messageCounts: { visitor: 9, operator: 9 } });
  const operators = [player(0)];
  const last = { id: 'm', from: 'visitor', at: noon, arrived: true, options: [] } as const;
  const message = done({ operators, engagements: [{ ...real, last }] }, after(7)).find((each) => each.do === 'send');
  assert.ok(message?.do === 'send' && message.as.kind === 'operator');
  const mine = { ...last, from: 'operator' } as const;
  const ends = (seconds: number): boolean =>
    done({ operators, engagements: [{ ...real, last: mine }] }, after(seconds)).some((each) => each.do === 'end');
  assert.ok(!ends(599));
  assert.ok(ends(601));
});

test('at double speed everything takes half as long', () => {
  const tickets = [{ id: 't', visitorId: 'v', simulated: true, enqueuedAt: noon }];
  const leaves = (speed: number): number => {
    let seconds = 0;
    while (done({ tickets }, { ...after(seconds), speed }).length === 0) seconds += 0.01;
    return seconds;
  };
  assert.ok(Math.abs(leaves(1) - 2 * leaves(2)) < 0.1);
});
