-- Attempts that do not stand for their delivery (failed ones, and those before a replay), by when they were made: what
-- became of a webhook's deliveries in an interval is counted by it. Of one that is delivered at once nothing is in it.
CREATE INDEX delivery_log_passed ON delivery_log (webhook_id, at) WHERE NOT final AND duration_ms IS NOT NULL;
