import Type from 'typebox';
import type { App } from './http.ts';
import { Refusal } from './errors.ts';
import { knownMigrations, schemaVersion } from './migrations.ts';

const tags = ['Service'];

export async function healthRoutes(app: App): Promise<void> {
  const known = (await knownMigrations()).length;
  const status = Type.Object({ status: Type.String() });

  app.get(
    '/healthz',
    {
      config: { access: { public: true } },
      schema: { tags, summary: 'Whether the process runs', response: { 200: status } },
    },
    async () => ({ status: 'ok' }),
  );

  app.get(
    '/readyz',
    {
      config: { access: { public: true } },
      schema: {
        tags,
        summary: 'Whether the database answers and has this version of the schema',
        response: { 200: status },
      },
    },
    async (request) => {
      const version = await schemaVersion(request.sql);
      if (version === known) return { status: 'ready' };
      throw new Refusal(
        'database_unavailable',
        `The database has schema version ${version}, this process needs ${known}.`,
      );
    },
  );
}
