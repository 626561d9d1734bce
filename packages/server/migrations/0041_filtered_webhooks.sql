-- additive, outside a transaction
-- Whether an event must be converted for filters.
CREATE INDEX CONCURRENTLY IF NOT EXISTS webhooks_filtered ON webhooks (account_id)
  WHERE filter_path IS NOT NULL AND side IS NULL AND deleted_at IS NULL;
