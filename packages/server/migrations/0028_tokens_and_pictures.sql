-- A publishable application token stands in web pages, so its text is no secret and can be shown at any time. Secret tokens are
-- stored as a hash alone. Null: a secret token, or a publishable one that is older than this column.
ALTER TABLE application_tokens
  ADD COLUMN token text,
  ADD CONSTRAINT application_tokens_show_publishable_only CHECK (token IS NULL OR kind = 'publishable');

-- The picture of an operator, which visitors see. A row is never changed: another picture has another id, so that browsers may
-- keep what they have.
CREATE TABLE operator_pictures (
  id           uuid           PRIMARY KEY,
  account_id   uuid           NOT NULL,
  operator_id  uuid           NOT NULL UNIQUE,
  content_type text           NOT NULL CHECK (content_type IN ('image/png', 'image/jpeg', 'image/webp')),
  content      bytea          NOT NULL CHECK (octet_length(content) <= 262144),
  created_at   timestamptz(3) NOT NULL DEFAULT now(),
  FOREIGN KEY (account_id, operator_id) REFERENCES operators (account_id, id) ON DELETE CASCADE
);
-- Already compressed.
ALTER TABLE operator_pictures ALTER COLUMN content SET STORAGE EXTERNAL;
-- Also on the operator, whose row is read with every engagement.
ALTER TABLE operators ADD COLUMN picture_id uuid;
-- A deleted picture is dropped from the memory of every process. Nobody can have looked up a new one before.
CREATE TRIGGER tell AFTER DELETE ON operator_pictures FOR EACH ROW
  EXECUTE FUNCTION tell_change('operator_pictures', 'id');
