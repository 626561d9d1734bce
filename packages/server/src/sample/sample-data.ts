import Type from 'typebox';
import type { WebhookId } from '../events/attach-webhooks.ts';
import type { AccountId, OperatorId, SiteId } from '../platform/ids.ts';
import { body, nullable, oneOf, output, timestamp, uuid } from '../platform/schema.ts';

export const sampleDataOutput = output('SampleData', {
  state: Type.Unsafe<'none' | SampleState>({
    ...oneOf(['none', 'running', 'stopped', 'removing'] as const),
    description: 'running: visitors come and are served; removing: it takes a moment, then there is none',
  }),
  site_id: nullable(uuid<'site'>()),
  started_at: nullable(timestamp),
});

export const sampleDataChange = body({ action: oneOf(['start', 'stop'] as const) });

export type SampleState = 'running' | 'stopped' | 'removing';

/** What was made, and whether it moves. */
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

/** What the `external_id` of made-up visitors begins with, so that nobody speaks for a real visitor. */
export const visitorMark = 'sample:';

/** One that this process has the lease of. */
export interface TakenSample extends SampleRow {
  readonly epoch: number;
}

export function showSampleData(row: SampleRow | null): Type.Static<typeof sampleDataOutput> {
  if (row === null) return { state: 'none', site_id: null, started_at: null };
  return { state: row.state, site_id: row.site_id, started_at: row.started_at };
}
