import type { Config } from '../config.ts';
import { findFirstSuperManager } from '../identity/accounts.ts';
import { linkPath, makeLink } from '../identity/sign-in/links.ts';
import type { Sql } from '../platform/database.ts';
import { StartError } from '../platform/errors.ts';
import { isUuid, type AccountId, type OperatorId } from '../platform/ids.ts';
import { serverUrl } from '../platform/server-url.ts';
import { withDatabase } from './commands.ts';
import { readOptions } from './options.ts';

interface Operator {
  readonly accountId: AccountId;
  readonly operatorId: OperatorId;
}

const options = {
  operator: { type: 'string' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

const usage = `usher sign-in-link [--operator <e-mail or id>]

  Prints a single-use link that signs in to the console, as this operator or as the first super_manager. The link expires
  in one hour.
`;

/** Needs no authentication: whoever runs this command has full access to the database. */
export async function signInLink(config: Config, ...args: string[]): Promise<void> {
  const { operator, help } = readOptions('sign-in-link', options, args);
  if (help) return void process.stdout.write(usage);
  const token = await withDatabase(config, async (sql) =>
    makeLink(sql, operator === undefined ? await firstOperator(sql) : await findOperator(sql, operator)),
  );
  const url = config.publicUrl === '' ? serverUrl(config.host, config.port) : config.publicUrl;
  process.stdout.write(`${url}${linkPath(token)}\n`);
}

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
