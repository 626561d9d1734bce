import { ensureSigningKey } from '../identity/signing-keys.ts';
import { StartError } from '../platform/errors.ts';
import { migrate as migrateSchema, pendingMigrations } from '../platform/migrations.ts';
import { command, print } from './command.ts';
import { withStorage } from './with-database.ts';

export const migrate = command({
  help: `usher migrate [--check | --plan] [--json]

  Migrates the database to this version and exits.

  --check   change nothing; exit with 1 if there are migrations to apply
  --plan    change nothing; list the migrations to apply. Processes of the version before can serve while additive ones
            are applied, and must be stopped before breaking ones.
  --json    print the migrations as JSON
`,
  options: {
    check: { type: 'boolean', default: false },
    plan: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
  async run(config, { check, plan, json }) {
    if (check && plan) throw new StartError('--check and --plan exclude each other. See usher migrate --help.');
    await withStorage(config, async ({ database }) => {
      const pending = (await pendingMigrations(database.sql)).map(({ file, kind }) => ({
        file,
        kind: kind.compatibility,
      }));
      const list = pending.map(({ file, kind }) => `${file}  ${kind}\n`).join('');
      if (check || plan) {
        print(json, { pending }, pending.length === 0 ? 'The database is up to date.\n' : list);
        if (check && pending.length > 0) process.exitCode = 1;
        return;
      }
      await migrateSchema(database, ensureSigningKey, {
        onRetry: ({ file }) => process.stderr.write(`${file} waits for a lock; trying again.\n`),
      });
      print(json, { applied: pending }, `${list}The database is up to date.\n`);
    });
  },
});
