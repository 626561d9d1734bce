import { setTimeout as sleep } from 'node:timers/promises';
import Type from 'typebox';
import type { DiskSpace } from './disk-watch.ts';
import type { App } from './http.ts';
import { Refusal } from './errors.ts';
import { knownMigrations, schemaVersion } from './migrations.ts';
import { databaseUnavailable, diskFull } from './problem.ts';
import type { Pulse } from './pulse.ts';

const tags = ['Service'];

/** `/readyz` responds within this time, whatever the database does. */
const readyMs = 2_000;

/** `/readyz` uses the connection of the pulse, so that it does not wait behind requests. */
export async function healthRoutes(app: App, pulse: Pulse, diskSpace: DiskSpace | null): Promise<void> {
  const known = (await knownMigrations()).length;
  const status = Type.Object({ status: Type.String() });
  // Monitoring tools may add their own parameters.
  const querystring = Type.Object({}, { additionalProperties: true });

  app.get(
    '/healthz',
    {
      config: { access: { public: true } },
      schema: { tags, summary: 'Whether the process runs', querystring, response: { 200: status } },
    },
    async () => ({ status: 'ok' }),
  );

  app.get(
    '/readyz',
    {
      config: { access: { public: true } },
      schema: {
        tags,
        summary: 'Whether the database responds, has the current schema and accepts writes',
        querystring,
        response: { 200: status },
      },
    },
    async () => {
      const version = pulse.isSilent ? null : await Promise.race([schemaVersion(pulse.sql), silence()]);
      if (version === null) throw databaseUnavailable();
      if (diskSpace?.isFull === true) throw diskFull();
      if (version === known) return { status: 'ready' };
      throw new Refusal(
        'database_unavailable',
        `The database has schema version ${version}, but this process needs version ${known}.`,
      );
    },
  );
}

async function silence(): Promise<null> {
  return sleep(readyMs, null, { ref: false });
}
