-- Whether visitors of a site may bring webhooks along with their tickets and requests.
ALTER TABLE sites ADD COLUMN visitor_webhooks boolean NOT NULL DEFAULT true;
