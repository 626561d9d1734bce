import { openCast, type Cast } from '../api/cast.ts';
import { filesOnDisk } from '../people/files.ts';
import { leaseElsewhere } from '../receivers/webhooks.ts';
import { call, until } from '../server.ts';
import { makeOperator } from '../world.ts';
import { Campaign, type Tally } from './campaign.ts';
import { openChangeLog } from './change-log.ts';
import { openCallers, type GarbageCaller } from './callers.ts';
import type { Vocabulary } from './fields.ts';
import { readInterface, type Interface } from './operations.ts';
import { plantSecrets } from './secrets.ts';
import { openSender } from './sender.ts';

/** A server with accounts full of secrets, everybody who sends garbage, and the means to send and check it. */
export interface GarbageWorld extends AsyncDisposable {
  readonly cast: Cast;
  readonly described: Interface;
  readonly vocabulary: Vocabulary;
  readonly callers: readonly GarbageCaller[];
  readonly campaign: Campaign;
  /** Whether the callers can still sign in. An accepted request may have removed one of them. */
  isIntact(): Promise<boolean>;
  /** What the server has logged as an error since the last call. */
  loggedErrors(): string[];
  /** Waits until each stored file belongs to a row: a refused upload leaves none. */
  assertNoStrayFiles(): Promise<void>;
}

export async function openGarbageWorld(tally: Tally): Promise<GarbageWorld> {
  const resources = new AsyncDisposableStack();
  const cast = resources.use(await openCast(undefined, { mcp: 'on' }));
  const { server } = cast;
  // Retries of deliveries would change rows at any time.
  await leaseElsewhere(server);
  const secrets = await plantSecrets(cast);
  const callers = await openCallers(cast, secrets);
  const described = await readInterface(cast);
  const sender = openSender(server.url);
  resources.defer(async () => sender.close());
  const changes = await openChangeLog(server.database.address);
  resources.defer(async () => changes.close());
  let linesRead = server.logged.length;
  const tokens = [cast.account.admin, cast.stranger.admin, ...Object.values(cast.staff).map(({ token }) => token)];
  return {
    cast,
    described,
    vocabulary: { schemas: described.schemas, foreignIds: secrets.foreignIds },
    callers,
    campaign: new Campaign({ url: server.url, sender, changes, secrets, tally }),
    async isIntact() {
      const answers = await Promise.all(tokens.map(async (token) => call(server, 'GET /sites', { token })));
      return answers.every(({ status, body }) => status === 200 && body.sites.length > 0);
    },
    loggedErrors() {
      const lines = server.logged.slice(linesRead);
      linesRead = server.logged.length;
      return lines.filter((line) => /"level":"(?:error|fatal)"/.test(line));
    },
    async assertNoStrayFiles() {
      await until(async () => {
        const rows = await server.database.sql<{ id: string }[]>`SELECT id FROM files`;
        const known = new Set(rows.map(({ id }) => id));
        return filesOnDisk(server.dataDir).every((name) => known.has(name));
      });
    },
    async [Symbol.asyncDispose]() {
      await resources.disposeAsync();
    },
  };
}

/** Operators of whom each may end their own session. */
export async function openDisposableCallers({ server, account }: Cast, count: number): Promise<GarbageCaller[]> {
  const make = async (): Promise<GarbageCaller> => {
    const { token } = await makeOperator(server, account, [{ site_id: account.siteId, role: 'operator' }]);
    return {
      name: 'operator who signs out',
      kind: 'operator',
      mayRead: new Set(['own site', 'bystander']),
      headersFor: () => [['authorization', `Bearer ${token}`]],
    };
  };
  return Promise.all(Array.from({ length: count }, make));
}
