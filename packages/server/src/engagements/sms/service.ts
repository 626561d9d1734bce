import type { Registry } from 'prom-client';
import type { AccountId } from '../../platform/ids.ts';
import type { RowChanges } from '../../platform/database/row-changes.ts';
import type { Sql } from '../../platform/database/database.ts';
import type { Log } from '../../platform/log.ts';
import type { Turns } from '../../routing/turns.ts';
import type { Carrier } from '../../carriers/carrier.ts';
import { handleDue, type SmsContext } from './handle-due.ts';
import { smsMetrics } from './metrics.ts';
import { Outbox } from './outbox.ts';

interface SmsOptions {
  readonly carrier: Carrier;
  /** A separate pool: a request may hold a connection of the main pool while its SMS is prepared. */
  readonly sql: Sql;
  readonly turns: Turns;
  readonly changes: RowChanges;
  readonly log: Log;
  readonly registry: Registry;
  readonly onCommitted: (accountId: AccountId) => void;
}

/** What routes need to send SMS and to receive receipts and replies. */
export interface SmsService extends SmsContext {
  /** Looks for due SMS now. */
  readonly wake: () => void;
  readonly stop: () => Promise<void>;
}

export function startSms({ carrier, sql, turns, changes, log, registry, onCommitted }: SmsOptions): SmsService {
  const context: SmsContext = { sql, turns, onCommitted, carrier, metrics: smsMetrics(registry, sql) };
  const outbox = new Outbox({ sql, changes, log, handle: async (due, stopping) => handleDue(context, due, stopping) });
  const stop = async (): Promise<void> => {
    await outbox.stop();
    await carrier.close();
  };
  return { ...context, wake: () => outbox.wake(), stop };
}
