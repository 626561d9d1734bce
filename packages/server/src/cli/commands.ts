import type { Config } from '../config.ts';
import { createAccount, newKey, type NewKey } from '../identity/accounts.ts';
import { insertApiKey } from '../identity/api-keys/store.ts';
import { hashSecret } from '../identity/secrets.ts';
import { ensureSigningKey, rotateSigningKey } from '../identity/signing-keys.ts';
import { inTransaction, type Sql } from '../platform/database.ts';
import { StartError } from '../platform/errors.ts';
import type { AccountId, OperatorId } from '../platform/ids.ts';
import { migrate, pendingMigrations } from '../platform/migrations.ts';
import { joinStorage, type Storage } from '../storage.ts';
import { readOptions } from './options.ts';

const maxKeys = 20;

async function withStorage<T>(config: Config, work: (storage: Storage) => Promise<T>): Promise<T> {
  const storage = await joinStorage(config);
  try {
    return await work(storage);
  } finally {
    await storage.close();
  }
}

/** Runs `work` on the migrated database, in one transaction. */
export async function withDatabase<T>(config: Config, work: (sql: Sql) => Promise<T>): Promise<T> {
  return withStorage(config, async ({ database }) => {
    await migrate(database, ensureSigningKey);
    return inTransaction(database.sql, work);
  });
}

const migrateHelp = `usher migrate [--check | --plan]

Migrates the database to this version and exits.

  --check   change nothing; exit with 1 if there are migrations to apply
  --plan    change nothing; list the migrations to apply
`;

const migrateOptions = {
  check: { type: 'boolean', default: false },
  plan: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

export async function migrateOnly(config: Config, ...args: string[]): Promise<void> {
  const { check, plan, help } = readOptions('migrate', migrateOptions, args);
  if (help) return void process.stdout.write(migrateHelp);
  if (!check && !plan) {
    await withDatabase(config, async () => undefined);
    return void process.stdout.write('The database is up to date.\n');
  }
  const pending = await withStorage(config, async ({ database }) => pendingMigrations(database.sql));
  process.stdout.write(
    pending.length === 0
      ? 'The database is up to date.\n'
      : pending.map(({ file, kind }) => `${file}  ${kind.compatibility}\n`).join(''),
  );
  if (check && pending.length > 0) process.exitCode = 1;
}

export async function accountsCreate(config: Config, name?: string): Promise<void> {
  if (name === undefined || name === '')
    throw new StartError('The name of the account is missing: usher accounts create <name>');
  const key = newKey();
  await withDatabase(config, async (sql) =>
    createAccount(sql, { accountName: name, email: 'administrator@localhost', key }),
  );
  printKey(`Created account "${name}" with one site. API key of its super_manager (shown only once):`, key);
}

export async function keysCreate(config: Config, email?: string, account?: string): Promise<void> {
  if (email === undefined) throw new StartError("The operator's e-mail address is missing: usher keys create <e-mail>");
  const key = newKey();
  await withDatabase(config, async (sql) => {
    const owners = await sql<{ accountId: AccountId; operatorId: OperatorId }[]>`
      SELECT o.account_id AS "accountId", o.id AS "operatorId"
        FROM operators o
        JOIN accounts a ON a.id = o.account_id
       WHERE lower(o.email) = lower(${email}) AND (${account === undefined} OR a.name = ${account ?? ''})`;
    const [owner] = owners;
    if (owner === undefined) throw new StartError(`No operator has the e-mail address ${email}.`);
    if (owners.length > 1)
      throw new StartError(
        `Several accounts have an operator ${email}; add the account's name: usher keys create ${email} <account>.`,
      );
    const row = await insertApiKey(sql, { ...owner, id: key.id, secretHash: await hashSecret(key.secret) }, maxKeys);
    if (row === null)
      throw new StartError(`${email} already has ${maxKeys} keys, the maximum; delete one through the API.`);
  });
  printKey(`New API key of ${email} (shown only once):`, key);
}

export async function signingKeysRotate(config: Config, flag?: string): Promise<void> {
  if (flag !== undefined && flag !== '--revoke')
    throw new StartError(`Unknown option ${flag}; the only option is --revoke.`);
  await withDatabase(config, async (sql) => rotateSigningKey(sql, flag === '--revoke' ? 'revoke' : 'keep'));
  process.stdout.write(
    flag === '--revoke'
      ? 'All existing tokens are revoked. New tokens are signed with a new key.\n'
      : 'New tokens are signed with a new key.\n',
  );
}

function printKey(heading: string, { id, secret }: NewKey): void {
  process.stdout.write(`${heading}\n  id      ${id}\n  secret  ${secret}\n`);
}
