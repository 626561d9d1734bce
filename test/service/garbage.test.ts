import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, test } from 'node:test';
import { hangMs } from '../support/slowness.ts';
import { Tally } from '../support/garbage/campaign.ts';
import type { GarbageCaller } from '../support/garbage/callers.ts';
import { makeBase, type Base, type Operation } from '../support/garbage/operations.ts';
import { Plan, shuffled } from '../support/garbage/plan.ts';
import { openDisposableCallers, openGarbageWorld, type GarbageWorld } from '../support/garbage/world.ts';
import { randomOf } from '../support/simulation/random.ts';

/**
 * Sends garbage to every operation, as every kind of caller: valid requests with one field, parameter, header or byte changed, requests that
 * are made of the schemas, and bytes that are hardly HTTP. Whatever is sent, no answer is a 5xx, none takes long, each is declared and
 * says what is wrong, a refused request has changed nothing in any table, and no answer has data that the caller may not read.
 */
const { PROVE: proofSeed, SEED: givenSeed, TEST_POSTGRES: postgres, ONLY: only } = process.env;
const isLong = proofSeed !== undefined;
const seed = Number(proofSeed ?? givenSeed ?? Date.now() % 2 ** 31);
/** Requests of the whole test. The short form and the oldest PostgreSQL get a random choice of them. */
const total = isLong ? (postgres === 'oldest' ? 100_000 : 1_000_000) : 3_000;
const batchSize = isLong ? 48 : 12;
/** A server is replaced after so many requests: the accounts fill with what was accepted. */
const requestsPerServer = 12_000;
const maxMs = isLong ? 3 * 3_600_000 : hangMs;
/** Simulated people write sample data, and a recovery inserts deliveries, a while after the request. */
const changesByItself = /\/sample_data|\/recover$/;
const endsSessions = /^DELETE \/operator_authentication\/sessions(\/current)?$/;

const tally = new Tally();
const repeat = `SEED=${seed} npm test -- test/service/garbage.test.ts, or npm run prove -- garbage --seed ${seed}`;

let world: GarbageWorld = await openGarbageWorld(tally);
let sentBefore = 0;
after(async () => world[Symbol.asyncDispose]());

async function replaceWorld(): Promise<void> {
  await world[Symbol.asyncDispose]();
  world = await openGarbageWorld(tally);
  sentBefore = tally.sent;
}

/** The callers for an operation, and the one of them whose request is the valid one. */
async function callersFor({ name }: Operation): Promise<readonly GarbageCaller[]> {
  if (!endsSessions.test(name)) return world.callers;
  const others = world.callers.filter(({ kind }) => ['nobody', 'garbage', 'expired', 'visitor', 'publishable', 'secret'].includes(kind)); // prettier-ignore
  return [...others, ...(await openDisposableCallers(world.cast, isLong ? 200 : 5))];
}

async function proveOperation(operation: Operation, quota: number): Promise<void> {
  const random = randomOf(seed + createHash('sha256').update(operation.name).digest().readUInt32BE());
  const { cast, campaign, vocabulary } = world;
  const callers = await callersFor(operation);
  const admittedKinds = Plan.admittedKinds(operation, callers);
  const nextBase = async (): Promise<Base> => {
    campaign.expectLateEffects();
    return makeBase(cast, operation, random.pick(admittedKinds));
  };
  let base = await nextBase();
  const plan = new Plan(operation, base, { vocabulary, callers, random });
  const until = tally.sent + quota;
  for (let round = 0; tally.sent < until; round += 1) {
    const who = round % 3 === 2 && plan.hasRefused ? 'refused' : 'admitted';
    const requests = plan.next(base, who, Math.min(batchSize, until - tally.sent));
    const isAtOnce = who === 'refused' || round % 2 === 0;
    const hasChanged = await (isAtOnce ? campaign.sendAtOnce(requests) : campaign.sendOneByOne(requests));
    if (hasChanged) base = await nextBase();
  }
}

test(`the seed ${seed}: garbage is refused, changes nothing and shows nothing`, { timeout: maxMs }, async (t) => {
  const began = performance.now();
  const names = world.described.operations
    .map(({ name }) => name)
    .filter((name) => only === undefined || only.split(',').some((part) => name.includes(part)));
  // What changes by itself comes last.
  const ordered = shuffled(names, randomOf(seed)).toSorted(
    (a, b) => Number(changesByItself.test(a)) - Number(changesByItself.test(b)),
  );
  const weights = new Map(world.described.operations.map((each) => [each.name, Plan.weightOf(world.vocabulary, each)]));
  let weightLeft = ordered.reduce((sum, name) => sum + (weights.get(name) ?? 0), 0);
  for (const name of ordered) {
    const weight = weights.get(name) ?? 0;
    const quota = Math.ceil(((total - tally.sent) * weight) / weightLeft);
    weightLeft -= weight;
    if (tally.sent - sentBefore > requestsPerServer || !(await world.isIntact())) await replaceWorld();
    await t.test(name, async () => {
      const operation = world.described.operations.find((each) => each.name === name);
      assert.ok(operation !== undefined);
      const known = tally.violations.length;
      await proveOperation(operation, quota);
      await world.assertNoStrayFiles();
      const found = [...tally.violations.slice(known), ...world.loggedErrors()];
      assert.ok(found.length === 0, `To repeat: ${repeat}\n${found.join('\n')}`);
    });
  }
  const counts = (map: ReadonlyMap<string, number>) =>
    Object.fromEntries([...map].toSorted(([a], [b]) => a.localeCompare(b)));
  const figures = {
    garbage: tally.sent,
    seconds: Math.round((performance.now() - began) / 1000),
    statuses: counts(tally.byStatus),
    callers: counts(tally.byCaller),
    refusedWithoutChange: tally.unchanged,
    lateEffects: tally.lateEffects,
    slowest: tally.slowest,
    violations: tally.violationCount,
    seed,
    postgres,
  };
  console.log(JSON.stringify(figures));
  if (only !== undefined) return;
  // If validation refused all garbage, the test would not reach the handlers.
  for (const status of ['200', '201', '404', '422'])
    assert.ok((tally.byStatus.get(status) ?? 0) >= 5, `few ${status}: ${JSON.stringify(figures)}`);
  assert.ok(tally.rightlySeen >= 20, 'callers who may see the secrets see them');
  assert.ok(tally.unchanged > total / 3, 'most requests are refused');
});
