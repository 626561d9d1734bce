-- Limits per address for callers who got in by a publishable token, which anybody can copy from a page.

-- The defaults are those of identity/sites/site.ts: for sites that were made before, and for tests that write rows themselves.
ALTER TABLE sites
  ADD COLUMN visitor_limits jsonb NOT NULL
    DEFAULT '{"new_visitors_per_minute": 60, "open_tickets_per_address": 10, "open_feeds_per_address": 100}',
  ADD COLUMN ticket_needs_presence boolean NOT NULL DEFAULT false;

-- Boards know both settings: see move_board() in 0004.
CREATE TRIGGER move_board_limits AFTER UPDATE OF visitor_limits, ticket_needs_presence ON sites FOR EACH ROW
  EXECUTE FUNCTION move_board('sites', 'id');

-- Keyed hashes of the addresses that open tickets, and pending requests of visitors to operators, came from. Cleared when the
-- ticket or request ends. NULL: the caller is not limited by address.
ALTER TABLE queue_tickets ADD COLUMN address_hash text;
ALTER TABLE engagement_requests ADD COLUMN address_hash text;

-- The key of those hashes, the same for all processes. Two random UUIDs have 244 random bits.
CREATE TABLE address_hash_key (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  key      bytea   NOT NULL
);
INSERT INTO address_hash_key (key)
VALUES (decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));

-- When the last token was issued to a visitor who was made with a publishable token, until it is known that the visitor has
-- done something (identity/visitors/sweep.ts). NULL: never removed. Visitors from before this migration are not removed.
ALTER TABLE visitors ADD COLUMN token_issued_at timestamptz(3);
CREATE INDEX visitors_unproven ON visitors (token_issued_at) WHERE token_issued_at IS NOT NULL;

-- Whether a visitor has ever had a ticket that came to nothing; others are found by their engagement, or as active tickets.
-- `ended_at` changes once in the life of a ticket, together with `engagement_id`: no update of a waiting ticket touches this.
CREATE INDEX queue_tickets_unanswered ON queue_tickets (visitor_id) WHERE ended_at IS NOT NULL AND engagement_id IS NULL;

-- Processes keep visitors in memory: a token of a removed visitor must end at once.
CREATE TRIGGER tell_removal AFTER DELETE ON visitors FOR EACH ROW EXECUTE FUNCTION tell_change('visitors', 'id');
