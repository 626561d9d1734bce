-- additive, outside a transaction
-- What each process looks for every minute.
CREATE INDEX CONCURRENTLY IF NOT EXISTS webhooks_failing ON webhooks (failing_since)
  WHERE failing_since IS NOT NULL AND alarmed_at IS NULL AND side IS NULL AND deleted_at IS NULL;
