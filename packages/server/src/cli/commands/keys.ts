import { newKey, type NewKey } from '../../identity/accounts.ts';
import { insertApiKey } from '../../identity/api-keys/store.ts';
import { hashSecret } from '../../identity/secrets.ts';
import { StartError } from '../../platform/errors.ts';
import type { AccountId, OperatorId } from '../../platform/ids.ts';
import { command, print } from '../command.ts';
import { withDatabase } from '../with-database.ts';

const maxKeys = 20;

export const keysCreate = command({
  help: `usher keys create <e-mail> [account] [--json]

  Creates an API key for an existing operator and prints it; it is shown only once. Add the account's name if several
  accounts have an operator with this address.
`,
  options: { json: { type: 'boolean', default: false } },
  arguments: ['<e-mail>', '[account]'],
  async run(config, { json }, email = '', account) {
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
    printKey(json, `New API key of ${email} (shown only once):`, key);
  },
});

export function printKey(isJson: boolean, heading: string, { id, secret }: NewKey): void {
  print(isJson, { id, secret }, `${heading}\n  id      ${id}\n  secret  ${secret}\n`);
}
