-- additive, outside a transaction
-- The remains of a deleted site are removed in batches, each found by its site. Tickets are all ended by then: an index of the ended
-- ones is written once for each ticket.
CREATE INDEX CONCURRENTLY IF NOT EXISTS visitors_by_site ON visitors (site_id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS queue_tickets_ended_by_site ON queue_tickets (site_id) WHERE ended_at IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS sms_messages_by_site ON sms_messages (site_id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS visitor_authentication_requests_of_site ON visitor_authentication_requests (site_id);
