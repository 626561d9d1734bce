-- additive, outside a transaction
-- Statistics read the ended intervals of an account that begin in a range, in the order in which they were written. Intervals that go
-- on are left out: so an interval is added when it ends, and beginning it costs nothing more.
CREATE INDEX CONCURRENTLY IF NOT EXISTS presence_intervals_ended ON presence_intervals (account_id, started_at) WHERE ended_at IS NOT NULL;
