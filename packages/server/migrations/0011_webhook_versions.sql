-- What an ETag of a registered webhook holds. What its deliveries come to (`failing_since`) does not change it.
ALTER TABLE webhooks ADD COLUMN version integer NOT NULL DEFAULT 1;
