-- A publishable application token stands in web pages, so its text is no secret and can be shown at any time. Secret tokens are
-- stored as a hash alone. Null: a secret token, or a publishable one that is older than this column.
ALTER TABLE application_tokens
  ADD COLUMN token text,
  ADD CONSTRAINT application_tokens_show_publishable_only CHECK (token IS NULL OR kind = 'publishable');
