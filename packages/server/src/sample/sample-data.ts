import Type from 'typebox';
import type { WebhookId } from '../events/subscriptions/attach-webhooks.ts';
import type { AccountId, OperatorId, SiteId } from '../platform/ids.ts';
import { body, nullable, oneOf, output, timestamp, uuid } from '../platform/schema.ts';

export const sampleDataOutput = output('SampleData', {
  state: Type.Unsafe<'none' | SampleState>({
    ...oneOf(['none', 'running', 'stopped', 'removing'] as const),
    description:
      'running: simulated visitors arrive and are served; removing: a deletion is in progress, then the state is none',
  }),
  site_id: nullable(uuid<'site'>()),
  started_at: nullable(timestamp),
});

export const sampleDataChange = body({ action: oneOf(['start', 'stop'] as const) });

export type SampleState = 'running' | 'stopped' | 'removing';

/** The sample data of an account and its state. */
export interface SampleRow {
  readonly account_id: AccountId;
  readonly site_id: SiteId;
  /** In the order of `players`. */
  readonly operator_ids: OperatorId[];
  readonly webhook_id: WebhookId | null;
  readonly seed: number;
  readonly state: SampleState;
  readonly started_at: Date;
  readonly created_at: Date;
}

/** The prefix of `external_id` of simulated visitors. It keeps simulations from acting for real visitors. */
export const visitorMark = 'sample:';

/** Sample data that this process has the lease of. */
export interface LeasedSample extends SampleRow {
  readonly epoch: number;
}

export function showSampleData(row: SampleRow | null): Type.Static<typeof sampleDataOutput> {
  if (row === null) return { state: 'none', site_id: null, started_at: null };
  return { state: row.state, site_id: row.site_id, started_at: row.started_at };
}
