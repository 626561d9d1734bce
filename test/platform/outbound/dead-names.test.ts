import assert from 'node:assert/strict';
import { createHook } from 'node:async_hooks';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { cloneDatabase } from '../../support/database/database.ts';
import { say, type Engaged } from '../../support/people/chat.ts';
import {
  engageWithWebhooks,
  makePage,
  startDnsWithDeadNames,
  startReceivers,
} from '../../support/network/dead-names.ts';
import { startProxy } from '../../support/network/proxy.ts';
import { call, startTestServer, until } from '../../support/server.ts';
import { hangMs } from '../../support/slowness.ts';

/** `npm run prove` runs the long form, which compares rounds with and without dead names. */
const isLong = process.env['PROVE'] !== undefined;
const rounds = isLong ? 6 : 1;
const messagesOfVisitor = isLong ? 40 : 10;
const everyMs = 400;

const healthyVisitors = 10;
const healthyReceivers = 98;
const deadVisitors = 20;
const deadOfVisitor = 10;
const fromAddresses = 10;

/** Before the fix, deliveries stopped for minutes. On a busy machine a delivery takes seconds anyway. */
const patienceMs = 60_000;
const reconnectPatienceMs = 20_000;

interface Round {
  readonly latenciesMs: readonly number[];
  /** The number of names that were queried and got no response. */
  readonly deadNames: number;
  /** Names that were resolved on libuv's threads. */
  readonly systemLookups: readonly string[];
  /** Time from the loss of all database connections to the next successful request. */
  readonly reconnectMs: number;
}

/** Measures deliveries to healthy receivers, with or without dead ones. The server connects to its database by host name. */
async function measure(withDead: boolean): Promise<Round> {
  using lookups = watchSystemLookups();
  await using dns = await startDnsWithDeadNames();
  const database = await cloneDatabase();
  if (database.kind !== 'socket') throw new Error('the test database is reached by socket');
  await using proxy = await startProxy({ socket: `${database.directory}/.s.PGSQL.5432` });
  const { port } = new URL(proxy.url);
  const address = { kind: 'url', url: `postgres://${database.user}@localhost:${port}/${database.database}` } as const;
  await using server = await startTestServer(
    { dnsServers: [dns.address], webhookAllowCidrs: ['127.0.0.0/8'], trustProxy: true },
    address,
  );
  const receivers = await startReceivers();
  try {
    const page = await makePage(server);
    const hosts = Array.from({ length: healthyReceivers }, (_, index) => `h${index}.test:${receivers.port}`);
    const healthy: { chat: Engaged; count: number }[] = [];
    for (let index = 0; index < healthyVisitors; index += 1) {
      const own = hosts.slice(index * 10, index * 10 + 10);
      healthy.push({ chat: await engageWithWebhooks(page, `198.51.100.${index}`, own), count: own.length });
    }
    for (const { chat, count } of healthy) await receivers.sendMeasured(chat, count);
    await until(() => receivers.missing() === 0);
    receivers.latenciesMs.length = 0;

    // Without dead names the visitors send the same messages, so that rounds differ only by the names.
    const others: Engaged[] = [];
    for (let index = 0; index < deadVisitors; index += 1) {
      const names = Array.from({ length: withDead ? deadOfVisitor : 0 }, (_, each) => `n${each}.v${index}.dead.test`);
      others.push(await engageWithWebhooks(page, `203.0.113.${index % fromAddresses}`, names));
    }
    const before = receivers.missing();
    for (let message = 0; message < messagesOfVisitor; message += 1) {
      const startedAt = performance.now();
      await Promise.all([
        ...healthy.map(async ({ chat, count }) => receivers.sendMeasured(chat, count)),
        ...others.map(async (chat) => say(chat, chat.visitor, 'Hello')),
      ]);
      await pause(Math.max(0, everyMs - (performance.now() - startedAt)));
    }
    await until(() => receivers.missing() === before, patienceMs);
    const systemLookups = lookups.names();
    const latenciesMs = [...receivers.latenciesMs];
    return {
      latenciesMs,
      systemLookups,
      deadNames: dns.queriedNames(/dead/).length,
      reconnectMs: await reconnect(proxy, async () => {
        const path = `/sites/${page.own.siteId}/application_tokens`;
        return (await call(server, `GET ${path}`, { token: page.own.admin })).status === 200;
      }),
    };
  } finally {
    await receivers.close();
  }
}

/** Records the names that this process resolves with getaddrinfo on libuv threads. */
function watchSystemLookups(): { names(): string[]; [Symbol.dispose](): void } {
  const requests: { readonly hostname?: unknown }[] = [];
  const hook = createHook({
    init(_id, type, _trigger, resource) {
      // Its name is set after that.
      if (type === 'GETADDRINFOREQWRAP') requests.push(resource);
    },
  }).enable();
  return {
    names: () => [...new Set(requests.map(({ hostname }) => String(hostname)))],
    [Symbol.dispose]: () => void hook.disable(),
  };
}

async function reconnect(proxy: { cut(): void }, isAnswered: () => Promise<boolean>): Promise<number> {
  proxy.cut();
  const startedAt = performance.now();
  await until(isAnswered, reconnectPatienceMs);
  return performance.now() - startedAt;
}

function quantile(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? Number.NaN;
}

test(
  `${deadVisitors * deadOfVisitor} unresolvable names delay neither healthy receivers nor the database`,
  { timeout: isLong ? 900_000 : hangMs },
  async () => {
    const p99: { with: number[]; without: number[] } = { with: [], without: [] };
    for (let round = 0; round < rounds; round += 1) {
      const measureWithout = async (): Promise<void> =>
        void p99.without.push(quantile((await measure(false)).latenciesMs, 0.99));
      if (isLong && round % 2 === 0) await measureWithout();
      const { latenciesMs, deadNames, systemLookups, reconnectMs } = await measure(true);
      p99.with.push(quantile(latenciesMs, 0.99));
      assert.equal(latenciesMs.length, messagesOfVisitor * healthyReceivers);
      assert.ok(deadNames >= 32, `only ${deadNames} dead names were queried`);
      // Only the name of the database uses libuv's threads.
      assert.deepEqual(systemLookups, ['localhost']);
      console.log(`the database was back after ${Math.round(reconnectMs)} ms`);
      if (isLong && round % 2 === 1) await measureWithout();
    }
    if (!isLong) return;
    const [without, withDead] = [quantile(p99.without, 0.5), quantile(p99.with, 0.5)];
    console.log(
      `p99 of deliveries to ${healthyReceivers} receivers, the median of ${rounds} rounds: ${without.toFixed(1)} ms without, ` +
        `${withDead.toFixed(1)} ms with dead names (${(withDead / without).toFixed(2)}x); ` +
        `rounds without ${p99.without.map(Math.round).join(' ')}, with ${p99.with.map(Math.round).join(' ')}`,
    );
    assert.ok(withDead <= 1.1 * without, `${withDead} ms against ${without} ms`);
  },
);
