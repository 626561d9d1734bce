-- additive, outside a transaction
-- Webhooks that deliver again are few; every process looks for them once a minute.
CREATE INDEX CONCURRENTLY IF NOT EXISTS webhooks_recovering ON webhooks (succeeded_at)
  WHERE failing_since IS NOT NULL;
