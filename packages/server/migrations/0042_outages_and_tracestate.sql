-- additive
-- When a webhook that fails (failing_since) last failed, to the minute; null: with failing_since.
ALTER TABLE webhooks ADD COLUMN failed_at timestamptz;
-- Later than failed_at: since when it has delivered again. Otherwise: no success since then, within failing_since. null: none.
ALTER TABLE webhooks ADD COLUMN succeeded_at timestamptz;

-- The tracestate of the request that caused the event, beside its traceparent; null: it had none.
ALTER TABLE events ADD COLUMN tracestate text;
