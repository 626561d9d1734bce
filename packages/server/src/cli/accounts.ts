import { createAccount, newKey } from '../identity/accounts.ts';
import { StartError } from '../platform/errors.ts';
import { command, print } from './command.ts';
import { printKey } from './keys.ts';
import { withDatabase } from './with-database.ts';

export const accountsCreate = command({
  help: `usher accounts create <name> [--json]

  Creates another account with a site and a super_manager, and prints the super_manager's API key, which is shown only once.
`,
  options: { json: { type: 'boolean', default: false } },
  arguments: ['<name>'],
  async run(config, { json }, name = '') {
    if (name.trim() === '') throw new StartError('The name of the account must not be empty.');
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
  readonly sites: number;
  readonly operators: number;
}

export const accountsList = command({
  help: `usher accounts list [--json]

  Lists the accounts of this service with the numbers of their sites and operators.
`,
  options: { json: { type: 'boolean', default: false } },
  async run(config, { json }) {
    const accounts = await withDatabase(
      config,
      async (sql) =>
        sql<ListedAccount[]>`
        SELECT a.id, a.name, a.created_at,
               (SELECT count(*)::integer FROM sites WHERE account_id = a.id) AS sites,
               (SELECT count(*)::integer FROM operators WHERE account_id = a.id) AS operators
          FROM accounts a
         ORDER BY a.created_at, a.id`,
    );
    const line = ({ id, name, created_at, sites, operators }: ListedAccount): string =>
      `${id}  ${created_at.toISOString().slice(0, 10)}  ${sites} sites, ${operators} operators  ${name}\n`;
    print(json, { accounts }, accounts.map(line).join(''));
  },
});
