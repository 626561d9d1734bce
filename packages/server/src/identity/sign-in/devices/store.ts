import type { Sql } from '../../../platform/database.ts';
import type { AccountId, OperatorId } from '../../../platform/ids.ts';
import { digestOf, newRandomSecret } from '../../secrets.ts';

/** A browser is known for so long after somebody signed in with it. */
export const deviceDays = 180;
/** An operator has so many; the one that was not used for longest goes when there would be more. */
const mostDevices = 50;

interface SignedIn {
  readonly accountId: AccountId;
  readonly operatorId: OperatorId;
  /** What the browser presented; `null`: nothing. */
  readonly presented: string | null;
}

/**
 * The browser has signed in as the operator. The browser gets a new secret each time, and the other operators who have signed in with it
 * are known by the new one: a secret that somebody has planted or copied is worth nothing afterwards. To be called with the
 * operator's row locked, which makes their number exact.
 */
export async function rememberDevice(sql: Sql, { accountId, operatorId, presented }: SignedIn): Promise<string> {
  const secret = newRandomSecret();
  const digest = digestOf(secret);
  if (presented !== null)
    await sql`UPDATE known_devices SET secret_digest = ${digest} WHERE secret_digest = ${digestOf(presented)}`;
  await sql`
    INSERT INTO known_devices (secret_digest, operator_id, account_id, expires_at)
    VALUES (${digest}, ${operatorId}, ${accountId}, now() + make_interval(days => ${deviceDays}))
    ON CONFLICT (secret_digest, operator_id) DO UPDATE SET last_used_at = now(), expires_at = excluded.expires_at`;
  await sql`
    DELETE FROM known_devices
     WHERE operator_id = ${operatorId}
       AND secret_digest IN (SELECT secret_digest FROM known_devices
                              WHERE operator_id = ${operatorId}
                              ORDER BY last_used_at DESC, secret_digest
                             OFFSET ${mostDevices})`;
  return secret;
}

/** Whether somebody with that e-mail address has signed in with the browser that presents the secret. */
export async function isKnownDevice(sql: Sql, secret: string, email: string): Promise<boolean> {
  const [row] = await sql`
    SELECT 1
      FROM known_devices d
      JOIN operators o ON o.id = d.operator_id
     WHERE d.secret_digest = ${digestOf(secret)} AND d.expires_at > now() AND lower(o.email) = lower(${email})
     LIMIT 1`;
  return row !== undefined;
}

/** After a new password, or signing out everywhere, none of the operator's browsers is known any more. */
export async function forgetDevices(sql: Sql, operatorId: OperatorId): Promise<void> {
  await sql`DELETE FROM known_devices WHERE operator_id = ${operatorId}`;
}
