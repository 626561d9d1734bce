-- additive, outside a transaction
-- The rows of a deleted account are found by these indexes, and so are the webhooks that the foreign key deletes with an account, and
-- the rankings that another deletes with an operator.
CREATE INDEX CONCURRENTLY IF NOT EXISTS event_secrets_by_account ON event_secrets (account_id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS webhooks_by_account ON webhooks (account_id, id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS queue_rankings_by_operator ON queue_rankings (operator_id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS deleted_queues_by_account ON deleted_queues (account_id, id);
