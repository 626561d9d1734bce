import { setTimeout as sleep } from 'node:timers/promises';
import Type from 'typebox';
import type { DiskSpace } from '../embedded/disk-watch.ts';
import type { App } from './http.ts';
import { Refusal } from '../errors.ts';
import { knownMigrations, schemaState } from '../database/migrations/migrations.ts';
import { refusesWrites } from '../database/session-check.ts';
import { databaseReadOnly, databaseUnavailable, diskFull } from './problem.ts';
import type { Pulse } from '../database/pulse.ts';
import { commit, version } from '../version.ts';

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
      schema: {
        tags,
        summary: 'Whether the process runs',
        description:
          'For the supervisor of the process: it does not look at the database. Use /readyz to decide whether to send requests.',
        querystring,
        response: { 200: status },
      },
    },
    async () => ({ status: 'ok' }),
  );

  app.get(
    '/version',
    {
      config: { access: { public: true } },
      schema: {
        tags,
        summary: 'The version of Usher that this process runs, its commit, and the version of the schema that it needs',
        description: 'During an upgrade, processes of two versions may answer.',
        querystring,
        response: {
          200: Type.Object({
            version: Type.String(),
            commit: Type.Union([Type.String(), Type.Null()]),
            schema: Type.Integer(),
          }),
        },
      },
    },
    async () => ({ version, commit, schema: known }),
  );

  app.get(
    '/readyz',
    {
      config: { access: { public: true } },
      schema: {
        tags,
        summary: 'Whether the database responds, has a schema that this process can use, and accepts writes',
        description:
          'For load balancers: 503 while requests would fail. The answer says which of the three is missing.',
        querystring,
        response: { 200: status },
      },
    },
    async () => {
      const read = async () => Promise.all([schemaState(pulse.sql, known), refusesWrites(pulse.sql)]);
      const found = pulse.isSilent ? null : await Promise.race([read(), silence()]);
      if (found === null) throw databaseUnavailable();
      const [schema, isReadOnly] = found;
      if (diskSpace?.isFull === true) throw diskFull();
      if (isReadOnly) throw databaseReadOnly();
      if (schema.isCompatible) return { status: 'ready' };
      throw new Refusal(
        'database_unavailable',
        `The database has schema version ${schema.version}, but this process needs version ${known}.`,
      );
    },
  );
}

async function silence(): Promise<null> {
  return sleep(readyMs, null, { ref: false });
}
