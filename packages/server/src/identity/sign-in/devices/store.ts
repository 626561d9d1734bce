import type { Sql } from '../../../platform/database/database.ts';
import type { AccountId, OperatorId } from '../../../platform/ids.ts';
import { digestOf, newRandomSecret } from '../../secrets.ts';

/** How long a browser stays known after a sign-in. */
export const deviceDays = 180;
/** Per operator. A new device beyond this replaces the least recently used one. */
const maxDevices = 50;

interface DeviceSignIn {
  readonly accountId: AccountId;
  readonly operatorId: OperatorId;
  /** The device cookie that the browser sent; `null` if it sent none. */
  readonly deviceSecret: string | null;
}

/**
 * Makes the browser a known device of the operator and returns its new secret. The secret changes at each sign-in, for all
 * operators who use the browser, so that a planted or copied secret becomes useless. Requires the lock on the operator's row,
 * which makes the number of devices exact.
 */
export async function rememberDevice(sql: Sql, { accountId, operatorId, deviceSecret }: DeviceSignIn): Promise<string> {
  const secret = newRandomSecret();
  const digest = digestOf(secret);
  if (deviceSecret !== null)
    await sql`UPDATE known_devices SET secret_digest = ${digest} WHERE secret_digest = ${digestOf(deviceSecret)}`;
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
                             OFFSET ${maxDevices})`;
  return secret;
}

/** Whether an operator with this e-mail address has signed in with the browser that sent the secret. */
export async function isKnownDevice(sql: Sql, secret: string, email: string): Promise<boolean> {
  const [row] = await sql`
    SELECT 1
      FROM known_devices d
      JOIN operators o ON o.id = d.operator_id
     WHERE d.secret_digest = ${digestOf(secret)} AND d.expires_at > now() AND lower(o.email) = lower(${email})
     LIMIT 1`;
  return row !== undefined;
}

/** Called when the password changes, when the operator signs out everywhere and when they are disabled. */
export async function forgetDevices(sql: Sql, operatorId: OperatorId): Promise<void> {
  await sql`DELETE FROM known_devices WHERE operator_id = ${operatorId}`;
}
