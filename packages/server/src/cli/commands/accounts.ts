import { deleteAccount } from '../../account-deletion/delete-account.ts';
import { lowerFence } from '../../account-moving/fence-store.ts';
import { discardHistory } from '../../account-moving/import-store.ts';
import { resumeAccount } from '../../account-moving/prepare-move.ts';
import { openFileStore } from '../../engagements/files/open-file-store.ts';
import { createAccount, newKey } from '../../identity/accounts.ts';
import type { Sql } from '../../platform/database/database.ts';
import { StartError } from '../../platform/errors.ts';
import { isUuid, type AccountId } from '../../platform/ids.ts';
import { createLog } from '../../platform/log.ts';
import { command, print, UsageError } from '../command.ts';
import { printKey } from './keys.ts';
import { withDatabase, withMigrated } from '../with-database.ts';

export const accountsCreate = command({
  help: `usher accounts create <name> [--json]

  Creates another account with a site and a super_manager, and prints the super_manager's API key, which is shown only once.
`,
  options: { json: { type: 'boolean', default: false } },
  arguments: ['<name>'],
  async run(config, { json }, name = '') {
    if (name.trim() === '') throw new UsageError('The name of the account must not be empty.');
    const key = newKey();
    await withDatabase(config, async (sql) =>
      createAccount(sql, { accountName: name, email: 'administrator@localhost', key }),
    );
    printKey(json, `Created account "${name}" with one site. API key of its super_manager (shown only once):`, key);
  },
});

interface ListedAccount {
  readonly id: string;
  readonly name: string;
  readonly created_at: Date;
  readonly disabled_at: Date | null;
  readonly moving_at: Date | null;
  readonly sites: number;
  readonly operators: number;
}

export const accountsList = command({
  help: `usher accounts list [--json]

  Lists the accounts of this service with the date of their creation and the numbers of their sites and operators.
`,
  options: { json: { type: 'boolean', default: false } },
  async run(config, { json }) {
    const accounts = await withDatabase(
      config,
      async (sql) =>
        sql<ListedAccount[]>`
        SELECT a.id, a.name, a.created_at, a.disabled_at, a.moving_at,
               (SELECT count(*)::integer FROM sites WHERE account_id = a.id) AS sites,
               (SELECT count(*)::integer FROM operators WHERE account_id = a.id) AS operators
          FROM accounts a
         ORDER BY a.created_at, a.id`,
    );
    const line = ({ id, name, created_at, disabled_at, moving_at, sites, operators }: ListedAccount): string =>
      `${id}  ${dateOf(created_at)}  ${counted(sites, 'site')}, ${counted(operators, 'operator')}  ${name}${
        moving_at === null ? '' : ` (being moved since ${moving_at.toISOString()})`
      }${disabled_at === null ? '' : ` (disabled on ${dateOf(disabled_at)})`}\n`;
    print(json, { accounts }, accounts.map(line).join(''));
  },
});

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function dateOf(at: Date): string {
  return at.toISOString().slice(0, 10);
}

interface FoundAccount {
  readonly id: AccountId;
  readonly name: string;
  readonly isDisabled: boolean;
  readonly isMoving: boolean;
  /** Seconds since it was disabled. */
  readonly disabledFor: number | null;
}

export async function findAccount(sql: Sql, id: string): Promise<FoundAccount> {
  const [found] = isUuid(id)
    ? await sql<FoundAccount[]>`
        SELECT id, name, disabled_at IS NOT NULL AS "isDisabled", moving_at IS NOT NULL AS "isMoving",
               extract(epoch FROM now() - disabled_at)::float8 AS "disabledFor"
          FROM accounts WHERE id = ${id}`
    : [];
  if (found === undefined)
    throw new StartError(`There is no account with the id "${id}". usher accounts list prints the ids.`);
  return found;
}

export const accountsDisable = command({
  help: `usher accounts disable <id> [--json]

  Refuses every request of the account's operators, visitors and applications, and ends their feeds. Its waiting visitors
  and conversations are kept as they are: nothing times out until usher accounts enable. Webhooks still receive the events
  from before. Nothing is deleted.
`,
  options: { json: { type: 'boolean', default: false } },
  arguments: ['<id>'],
  async run(config, { json }, id = '') {
    const { name } = await withDatabase(config, async (sql) => {
      const account = await findAccount(sql, id);
      // The fence of an account that is being moved lets this change pass.
      await sql`SELECT set_config('usher.passes_fence', 'on', true)`;
      // An account that is disabled already keeps its date.
      await sql`UPDATE accounts SET disabled_at = coalesce(disabled_at, now()) WHERE id = ${account.id}`;
      return account;
    });
    print(json, { id, name, disabled: true }, `Account "${name}" is disabled.\n`);
  },
});

export const accountsEnable = command({
  help: `usher accounts enable <id> [--stays] [--json]

  Lets the account work again after usher accounts disable. What has become due meanwhile is done at once: visitors whose
  time has run out leave their queues, for example.

  --stays   also after usher accounts export --move: the account stays here. Only if no other installation has imported it:
            otherwise both would work for it, and each would have its own conversations
`,
  options: { stays: { type: 'boolean', default: false }, json: { type: 'boolean', default: false } },
  arguments: ['<id>'],
  async run(config, { stays, json }, id = '') {
    const name = await withMigrated(config, async ({ database: { sql } }) => {
      const account = await findAccount(sql, id);
      if (account.isMoving && !stays)
        throw new StartError(
          `Account "${account.name}" is being moved. If no other installation has imported it, run: usher accounts enable ${id} --stays`,
        );
      if (account.isMoving) await resumeAccount(sql, account.id);
      await sql`UPDATE accounts SET disabled_at = NULL WHERE id = ${account.id}`;
      return account.name;
    });
    print(json, { id, name, disabled: false }, `Account "${name}" is enabled.\n`);
  },
});

/** A request that began before the account was disabled must have ended. */
const graceSec = 60;

export const accountsDelete = command({
  help: `usher accounts delete <id> --confirm <name> [--json]

  Deletes a disabled account for ever, with its sites, operators, visitors, conversations, files, events and audit log. Make
  a backup first. If it is interrupted, repeat it: it continues.

  --confirm <name>   the name of the account
`,
  options: { confirm: { type: 'string' }, json: { type: 'boolean', default: false } },
  arguments: ['<id>'],
  async run(config, { confirm, json }, id = '') {
    await withMigrated(config, async ({ database: { sql, address }, diskSpace }) => {
      const { id: accountId, name, isDisabled, isMoving, disabledFor } = await findAccount(sql, id);
      if (confirm !== name)
        throw new StartError(`This deletes everything of account "${name}". To do it, add: --confirm "${name}"`);
      if (!isDisabled) throw new StartError(`Account "${name}" is in use. First run: usher accounts disable ${id}`);
      if ((disabledFor ?? 0) < graceSec)
        throw new StartError(
          `Account "${name}" was disabled a moment ago, and requests may still be running. Try again in a minute.`,
        );
      const fileStore = openFileStore(config, createLog('silent'), diskSpace);
      await lowerFence(sql, accountId);
      if (isMoving) await discardHistory(address, accountId);
      const deleted = await deleteAccount({ sql, fileStore, accountId });
      print(
        json,
        { id, name, ...deleted },
        `Deleted account "${name}": ${counted(deleted.rows, 'row')}, ${counted(deleted.files, 'file')}.\n`,
      );
    });
  },
});
