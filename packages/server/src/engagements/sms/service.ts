import type { Registry } from 'prom-client';
import type { AccountId } from '../../platform/ids.ts';
import type { RowChanges } from '../../platform/row-changes.ts';
import type { Sql } from '../../platform/database.ts';
import type { Log } from '../../platform/log.ts';
import type { Turns } from '../../routing/turns.ts';
import type { Carrier } from './carrier.ts';
import { handleDue, type Parts } from './handle-due.ts';
import { smsMetrics } from './metrics.ts';
import { Outbox } from './outbox.ts';

interface SmsOptions {
  readonly carrier: Carrier;
  /** Connections of their own: a request may hold one of the others while its SMS is prepared. */
  readonly sql: Sql;
  readonly turns: Turns;
  readonly changes: RowChanges;
  readonly log: Log;
  readonly registry: Registry;
  readonly tell: (accountId: AccountId) => void;
}

/** What routes need to send, and to take what comes back. */
export interface SmsService extends Parts {
  /** Something may be due. */
  readonly wake: () => void;
  readonly stop: () => Promise<void>;
}

export function startSms({ carrier, sql, turns, changes, log, registry, tell }: SmsOptions): SmsService {
  const parts: Parts = { sql, turns, tell, carrier, metrics: smsMetrics(registry, sql) };
  const outbox = new Outbox({ sql, changes, log, handle: async (due, stopping) => handleDue(parts, due, stopping) });
  const stop = async (): Promise<void> => {
    await outbox.stop();
    await carrier.close();
  };
  return { ...parts, wake: () => outbox.wake(), stop };
}
