import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolSql } from '../platform/database/database.ts';
import { StartError } from '../platform/errors.ts';
import type { AccountId } from '../platform/ids.ts';
import { lowerFence, raiseFence } from './fence-store.ts';
import { findInFlight, markMoving, unmarkMoving, type InFlight } from './hold-store.ts';

/** Longer than a webhook, an SMS or a check of an identity may take, and than the lease of a process that died. */
const patienceMs = 60_000;
const pollMs = 50;
/** How often something may be begun between the last look and the fence. */
const maxTries = 5;

/**
 * Stops an account, in this order:
 *
 *   hold    no process begins to send webhooks or SMS for it; what is being sent ends, and its outcome is written. Everybody still works;
 *   fence   every change is refused, as answer 503 `account_moving`, and reads go on;
 *   check   nothing was begun between the two; otherwise once more from the beginning.
 *
 * If it fails, or if it is interrupted, the account goes on as if nothing had happened.
 */
export async function stopAccount(pool: PoolSql, accountId: AccountId, signal: AbortSignal): Promise<void> {
  // Otherwise the failure of one export would let the account go on beside another export that is complete.
  if (!(await markMoving(pool, accountId)))
    throw new StartError(
      `The account is being moved already. If no other installation has imported it, first run: usher accounts enable ${accountId} --stays`,
    );
  try {
    for (let tries = 1; ; tries += 1) {
      await finishInFlight(pool, accountId, signal);
      await raiseFence(pool, accountId, signal);
      if (isNothing(await findInFlight(pool, accountId))) return;
      await lowerFence(pool, accountId);
      if (tries === maxTries) throw new Error('an account that is held began to send again and again');
    }
  } catch (error) {
    await resumeAccount(pool, accountId);
    throw error;
  }
}

/** The account stays here after all. Call this only if no other installation works for it. */
export async function resumeAccount(pool: PoolSql, accountId: AccountId): Promise<void> {
  await lowerFence(pool, accountId);
  await unmarkMoving(pool, accountId);
}

async function finishInFlight(pool: PoolSql, accountId: AccountId, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    signal.throwIfAborted();
    const inFlight = await findInFlight(pool, accountId);
    if (isNothing(inFlight)) return;
    if (performance.now() > deadline)
      throw new StartError(
        `The account is still sending (${inFlight.destinations} webhook addresses, ${inFlight.sms} SMS, ${inFlight.authentications} sign-ins of visitors). It stays here. Check that all processes have this version of Usher, and try again.`,
      );
    await sleep(pollMs);
  }
}

function isNothing({ destinations, sms, authentications }: InFlight): boolean {
  return destinations + sms + authentications === 0;
}
