import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { say, type Engaged } from '../support/people/chat.ts';
import { forThisFile } from '../support/fixture.ts';
import { isProof } from '../support/proof.ts';
import { typical } from '../support/quantiles.ts';
import { openEngagements } from '../support/receivers/ordered-load.ts';
import { startTestServer, type Json } from '../support/server.ts';
import { leaseElsewhere, makeWebhook } from '../support/receivers/webhooks.ts';
import { expectStatus } from '../support/world.ts';

/** Filters run in the statement that writes the messages of all accounts. Here one account has the most expensive ones that it may have. */

const server = await forThisFile(startTestServer());
await leaseElsewhere(server);

const rounds = isProof ? 7 : 3;
const messagesPerRound = isProof ? 200 : 50;
/** Conversations of the account with filters, and of the one without; both send as fast as they are answered. */
const flooding = 16;
/** A busy machine needs room for noise. */
const mostSlower = 2;

const options = Array.from({ length: 100 }, () => ({ text: randomUUID(), value: randomUUID() }));
interface Case {
  readonly name: string;
  readonly message: Json;
  readonly field: string;
  /** Conditions of each filter, each with 20 values. */
  readonly conditions: number;
  readonly webhooks: number;
}
/** The largest filters that one account may have; conditions on the options of cards count as ten. */
const cases: readonly Case[] = [
  { name: 'messages', field: 'message.id', webhooks: 10, conditions: 5, message: 'Hello' },
  {
    name: 'response cards with 100 options',
    field: 'message.attachment.options.value',
    webhooks: 5,
    conditions: 1,
    message: { content: 'Which?', attachment: { type: 'single_choice', options } },
  },
];

/** Webhooks whose filters reach the limits of an account; no event passes, so all values are compared. */
async function addFilters({ own }: Engaged, { field, webhooks, conditions }: Case): Promise<void> {
  for (let n = 0; n < webhooks; n += 1) {
    const values = () => Array.from({ length: 20 }, () => randomUUID());
    const filter = { any: Array.from({ length: conditions }, () => ({ field, in: values() })) };
    await makeWebhook(server, own, { events: ['engagement.chat.message'], filter });
  }
}

/** Milliseconds that each message of an uninvolved conversation took while the others flooded. */
async function measure(chat: Engaged, attackers: readonly Engaged[], message: Json): Promise<number[]> {
  const over = new AbortController();
  const flood = attackers.map(async (each) => {
    while (!over.signal.aborted) expectStatus(await say(each, each.operator, message), 200);
  });
  const tookMs: number[] = [];
  while (tookMs.length < messagesPerRound) {
    const began = performance.now();
    expectStatus(await say(chat, chat.visitor, 'Hello'), 200);
    tookMs.push(performance.now() - began);
    await pause(5);
  }
  over.abort();
  await Promise.all(flood);
  return tookMs;
}

for (const one of cases) {
  const { name, message } = one;
  test(`the most expensive filters of one account do not slow down another account: ${name}`, async () => {
    const [chat] = await openEngagements(server, 1);
    const [plain, filtered] = [await openEngagements(server, flooding), await openEngagements(server, flooding)];
    assert.ok(chat && filtered[0]);
    await addFilters(filtered[0], one);
    const took = { plain: [] as number[][], filtered: [] as number[][] };
    await measure(chat, filtered, message);
    // In turn, so that other work of the machine slows down both.
    for (let round = 0; round < rounds; round += 1) {
      took.plain.push(await measure(chat, plain, message));
      took.filtered.push(await measure(chat, filtered, message));
    }
    for (const share of [0.5, 0.99]) {
      const [before, after] = [typical(took.plain, share), typical(took.filtered, share)];
      const shown = `${name}: p${share * 100} ${before.toFixed(1)} ms without filters, ${after.toFixed(1)} ms with`;
      if (isProof) console.log(shown);
      assert.ok(after / before <= mostSlower, shown);
    }
  });
}
