import assert from 'node:assert/strict';
import { Feeds } from '../../../../packages/server/src/feed/feeds.ts';
import { newId, type OperatorId } from '../../../../packages/server/src/platform/ids.ts';
import type { OpenPart } from '../cluster/history.ts';
import type { ClusterProcess } from '../cluster/process.ts';
import type { ClusterAccount } from '../cluster/setup.ts';
import type { Step } from '../scheduler.ts';
import { FeedChecks } from './checks.ts';
import { SimulatedReader } from './reader.ts';

/** Readers of live feeds follow the messages of the account, at any process. */
export const feeds: OpenPart = ({ options: { sql }, account, random, onActivity, onError }) => {
  const readers = callersOf(account).map(
    (caller, index) => new SimulatedReader({ name: `reader ${index + 1}`, caller, onActivity, onError }),
  );
  const opened = new Map<ClusterProcess, Feeds>();
  const checks = new FeedChecks(sql, account, readers);
  let isCalm = false;
  const connects = (reader: SimulatedReader): Step[] =>
    Array.from(opened, ([process, own]) => ({
      name: `${reader.name} connects to ${process.name}`,
      run: () => reader.connect(process, own),
      weight: 0.2,
    }));
  return {
    watchesClock: false,
    open: async (process) => {
      const own = openFeeds(process, readers);
      opened.set(process, own);
      return Promise.resolve(async () => {
        opened.delete(process);
        own.stop();
        return Promise.resolve();
      });
    },
    steps: () =>
      readers.flatMap((reader) => [
        ...(reader.hasUnread
          ? [{ name: `${reader.name} reads`, run: () => reader.read(random.pick([1, 3, 1_000])), weight: 0.4 }]
          : []),
        ...(isCalm && !reader.isConnected ? connects(reader) : []),
      ]),
    clientSteps: () =>
      readers.flatMap((reader) =>
        reader.isConnected
          ? [
              {
                name: `${reader.name} loses the connection`,
                run: () => reader.disconnect(),
                // Most often in the middle of what was sent.
                weight: reader.hasUnread ? 0.2 : 0.05,
              },
            ]
          : connects(reader),
      ),
    onKilled: (process) => {
      opened.delete(process);
      for (const reader of readers) reader.onKilled(process);
    },
    calm: () => {
      isCalm = true;
    },
    checkStep: async () => checks.checkStep(),
    checkCommitted: async () => Promise.resolve(),
    waitsMs: async () => checks.waitsMs(),
    checkEnd: async () => checks.checkEnd(),
  };
};

function openFeeds(process: ClusterProcess, readers: readonly SimulatedReader[]): Feeds {
  const unused = (what: string) => (): never => assert.fail(`${what} is not part of the simulation`);
  return new Feeds({
    sql: process.host.feedSql,
    hints: process.hints,
    changes: process.changes,
    log: process.log,
    // Nobody changes what readers may see.
    authenticator: { authenticate: (header: string) => readers.find(({ name }) => name === header)?.caller },
    siteQueues: { list: async () => Promise.resolve([]) },
    turns: { run: unused('a turn') },
    reveal: unused('a secret'),
    onDropped: () => undefined,
  } as unknown as ConstructorParameters<typeof Feeds>[0]);
}

/** A manager, who may read everything on the site, and two visitors, who may read what concerns them. */
function callersOf({ id: accountId, siteId, engagements }: ClusterAccount): SimulatedReader['caller'][] {
  const manager = {
    kind: 'operator',
    key: 'manager',
    accountId,
    operatorId: newId<OperatorId>(),
    isMadeUp: false,
    limited: false,
    roles: new Map([[siteId, 'manager']]),
    credentialId: 'manager',
    token: { kind: 'long-lived', id: 'manager', expiresAt: null },
    sessionId: null,
  } as const satisfies SimulatedReader['caller'];
  const visitors = engagements
    .slice(0, 2)
    .map(
      ({ visitorId }) =>
        ({ kind: 'visitor', key: visitorId, accountId, visitorId, siteId, trust: 'publishable' }) as const,
    );
  return [manager, ...visitors];
}
