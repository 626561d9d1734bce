-- Requests that went to a phone wait for days, others for as long as their site says. They were told apart by their time-out, which
-- held while no site could give as much as an hour and a bit. A request says itself what it is: this is `isLasting` of the board.
-- That has always been written, so it also holds for requests that wait now and for processes of the release before.
CREATE VIEW lasting_requests AS
SELECT id, account_id, state, notes, created_at
  FROM engagement_requests
 WHERE kind = 'direct' AND notes ->> 'platform' = 'sms';

-- Serves the view. Nothing in it ever changes, so answering a request still touches no index. Only direct requests are looked into.
CREATE INDEX engagement_requests_by_phone ON engagement_requests (account_id, created_at)
  WHERE kind = 'direct' AND notes ->> 'platform' = 'sms';

-- engagement_requests_lasting, its predecessor, goes with a later release: processes of the release before still read by it.
