import type { Seal, Sealer } from '../identity/sealer.ts';
import { deleteOld, type ShouldContinue } from '../platform/database/batches.ts';
import type { Sql } from '../platform/database/database.ts';
import type { AccountId } from '../platform/ids.ts';
import { traitsOf } from './catalogue.ts';

/** Fields of a payload, nested as they are in the payload. */
interface SecretFields {
  readonly [field: string]: string | SecretFields;
}

export interface EventSecret {
  /** The secret values; they replace the empty values in the payload. */
  readonly fields: SecretFields;
  readonly seal: Seal;
  readonly lastsSec: number;
}

export interface StoredEvent {
  readonly id: string;
  readonly type: string;
  readonly payload: object;
}

const purposeOf = (eventId: string): string => `secrets of the event ${eventId}`;

export async function keepSecret(
  sql: Sql,
  { accountId, eventId, secret }: { accountId: AccountId; eventId: string; secret: EventSecret },
): Promise<void> {
  const sealed = secret.seal(JSON.stringify(secret.fields), purposeOf(eventId));
  await sql`
    INSERT INTO event_secrets (event_id, account_id, sealed, expires_at)
    VALUES (${eventId}, ${accountId}, ${sealed}, now() + make_interval(secs => ${secret.lastsSec}))`;
}

/** Whether events of the type have secrets to look up. */
export function hasSecrets(type: string): boolean {
  return traitsOf(type).hasSecrets === true;
}

/**
 * The payload with its secrets, for the visitor's own feed and for webhooks. All others are sent the payload as it is stored.
 * After the secrets have expired, this is the payload as it is stored, too.
 */
export async function revealEvent(sql: Sql, sealer: Sealer, { id, type, payload }: StoredEvent): Promise<object> {
  if (!hasSecrets(type)) return payload;
  const [row] = await sql<{ sealed: Buffer }[]>`
    SELECT sealed FROM event_secrets WHERE event_id = ${id} AND expires_at > now()`;
  if (row === undefined) return payload;
  return mergeSecrets(payload, JSON.parse(await sealer.open(row.sealed, purposeOf(id))) as SecretFields);
}

/** Fields keep their order in the payload. */
function mergeSecrets(payload: object, secrets: SecretFields): object {
  const fields = Object.entries(secrets).map(([name, secret]) => {
    const present: unknown = Reflect.get(payload, name);
    const isNested = typeof secret === 'object' && typeof present === 'object' && present !== null;
    return [name, isNested ? mergeSecrets(present, secret) : secret] as const;
  });
  return { ...payload, ...Object.fromEntries(fields) };
}

export async function dropExpiredSecrets(pool: Sql, now: Date, shouldContinue: ShouldContinue): Promise<void> {
  const before = (sql: Sql) => sql`${now}`;
  await deleteOld(pool, { table: 'event_secrets', column: 'expires_at', before }, shouldContinue);
}
