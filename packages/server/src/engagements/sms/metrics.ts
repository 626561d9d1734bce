import { Counter, Gauge, type Registry } from 'prom-client';
import { CachedReading } from '../../platform/cached-reading.ts';
import type { Sql } from '../../platform/database/database.ts';
import { queuedAgeSec } from './store.ts';

export interface SmsMetrics {
  sent(outcome: 'sent' | 'postponed' | 'refused'): void;
  inbound(outcome: 'accepted' | 'message' | 'declined' | 'unclaimed'): void;
  receipt(kind: 'delivered' | 'failed' | 'taken' | 'unknown' | 'forged'): void;
}

export function smsMetrics(registry: Registry, sql: Sql): SmsMetrics {
  const counter = (name: string, help: string) =>
    new Counter({ name, help, labelNames: ['outcome'], registers: [registry] });
  const sent = counter('usher_sms_sent_total', 'Attempts to hand an SMS to the carrier, by outcome');
  const inbound = counter('usher_sms_inbound_total', 'SMS from visitors, by outcome');
  const receipts = counter('usher_sms_receipts_total', 'Receipts from the carrier, by status');
  const queuedAge = new CachedReading(async () => queuedAgeSec(sql));
  new Gauge({
    name: 'usher_sms_queued_age_seconds',
    help: 'Age of the oldest SMS that waits to be sent',
    registers: [registry],
    async collect() {
      // Without the database this metric is NaN, and the other metrics are still reported.
      this.set((await queuedAge.get()) ?? NaN);
    },
  });
  return {
    sent: (outcome) => sent.inc({ outcome }),
    inbound: (outcome) => inbound.inc({ outcome }),
    receipt: (outcome) => receipts.inc({ outcome }),
  };
}
