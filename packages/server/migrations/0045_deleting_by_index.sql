-- additive, outside a transaction
-- What a deleted site or account leaves is found by index, without looking at the rows of others. Active tickets are found by account.
CREATE INDEX CONCURRENTLY IF NOT EXISTS visitors_by_site ON visitors (site_id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS queue_tickets_ended ON queue_tickets (site_id) WHERE ended_at IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS sms_messages_by_site ON sms_messages (site_id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS visitor_authentication_requests_of_site ON visitor_authentication_requests (site_id);
