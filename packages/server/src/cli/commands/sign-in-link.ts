import { findFirstSuperManager } from '../../identity/accounts.ts';
import { linkPath, makeLink } from '../../identity/sign-in/links.ts';
import type { Sql } from '../../platform/database/database.ts';
import { StartError } from '../../platform/errors.ts';
import { isUuid, type AccountId, type OperatorId } from '../../platform/ids.ts';
import { serverUrl } from '../../platform/server-url.ts';
import { command, print } from '../command.ts';
import { withDatabase } from '../with-database.ts';

interface Operator {
  readonly accountId: AccountId;
  readonly operatorId: OperatorId;
}

/** Needs no authentication: a person who can run this command has full access to the database. */
export const signInLink = command({
  help: `usher sign-in-link [--operator <e-mail or id>] [--json]

  Prints a single-use link that signs in to the console, as this operator or as the first super_manager. The link expires
  in one hour.
`,
  options: { operator: { type: 'string' }, json: { type: 'boolean', default: false } },
  async run(config, { operator, json }) {
    const token = await withDatabase(config, async (sql) =>
      makeLink(sql, operator === undefined ? await firstOperator(sql) : await findOperator(sql, operator)),
    );
    const base = config.publicUrl === '' ? serverUrl(config.host, config.port) : config.publicUrl;
    const url = `${base}${linkPath(token)}`;
    print(json, { url }, `${url}\n`);
  },
});

async function firstOperator(sql: Sql): Promise<Operator> {
  const first = await findFirstSuperManager(sql, 'enabled');
  if (first === null) throw new StartError('There is no super_manager yet. Start Usher once, or use --operator.');
  return first;
}

async function findOperator(sql: Sql, emailOrId: string): Promise<Operator> {
  const found = await sql<(Operator & { enabled: boolean })[]>`
    SELECT account_id AS "accountId", id AS "operatorId", enabled
      FROM operators
     WHERE ${isUuid(emailOrId) ? sql`id = ${emailOrId}` : sql`lower(email) = lower(${emailOrId})`}
     ORDER BY created_at, id`;
  const [first, ...others] = found;
  if (first === undefined) throw new StartError(`There is no operator ${emailOrId}.`);
  if (others.length > 0)
    throw new StartError(
      `Several accounts have an operator ${emailOrId}; use one of these ids instead: ${found.map((each) => each.operatorId).join(', ')}.`,
    );
  if (!first.enabled) throw new StartError(`The operator ${emailOrId} is disabled.`);
  return first;
}
