import { ensureSigningKey } from '../../identity/signing-keys.ts';
import { migrate as migrateSchema, pendingMigrations } from '../../platform/database/migrations/migrations.ts';
import { changesExitCode, command, print, UsageError } from '../command.ts';
import { migrationsOnStderr } from '../migration-notes.ts';
import { withStorage } from '../with-database.ts';

export const migrate = command({
  help: `usher migrate [--check | --plan] [--json]

  Migrates the database to this version and exits. Says so before it applies breaking migrations.

  --check   change nothing; exit with 2 if there are migrations to apply
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
    if (check && plan) throw new UsageError('--check and --plan exclude each other. See usher migrate --help.');
    await withStorage(config, async ({ database }) => {
      if (check || plan) {
        const found = await pendingMigrations(database.sql);
        const pending = found.map(({ file, kind }) => ({ file, kind: kind.compatibility }));
        const list = pending.map(({ file, kind }) => `${file}  ${kind}\n`).join('');
        print(json, { pending }, pending.length === 0 ? 'The database is up to date.\n' : list);
        if (check && pending.length > 0) process.exitCode = changesExitCode;
        return;
      }
      const applied: { file: string; kind: string; ms: number }[] = [];
      await migrateSchema(database, ensureSigningKey, {
        ...migrationsOnStderr(),
        onApplied({ file, kind: { compatibility } }, ms) {
          applied.push({ file, kind: compatibility, ms });
          if (!json) process.stdout.write(`${file}  ${compatibility}  ${ms} ms\n`);
        },
      });
      print(json, { applied }, 'The database is up to date.\n');
    });
  },
});
