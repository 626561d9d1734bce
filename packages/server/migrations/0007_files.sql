-- Files sent in engagements. The bytes are in the data directory, by id; a row is written only once they are there.

CREATE TABLE files (
  id            uuid           PRIMARY KEY,
  account_id    uuid           NOT NULL,
  engagement_id uuid           NOT NULL,
  uploaded_by   text           NOT NULL CHECK (uploaded_by IN ('visitor', 'operator')),
  uploader_id   uuid           NOT NULL,
  name          text           NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
  -- As its bytes say, not as it was declared.
  content_type  text           NOT NULL,
  bytes         integer        NOT NULL CHECK (bytes > 0),
  sha256        bytea          NOT NULL CHECK (octet_length(sha256) = 32),
  state         text           NOT NULL CHECK (state IN ('pending', 'clean', 'infected')),
  -- Whether the bytes are still there: those of an infected file go once its result is committed.
  stored        boolean        NOT NULL DEFAULT true,
  -- While pending: when somebody may next try to scan it. Whoever does moves it on by the length of a lease.
  scan_due_at   timestamptz(3) NOT NULL,
  scan_attempts integer        NOT NULL DEFAULT 0,
  created_at    timestamptz(3) NOT NULL,
  -- Null where no scan took place.
  scanned_at    timestamptz(3),
  CHECK (state <> 'infected' OR scanned_at IS NOT NULL),
  CHECK (stored OR state = 'infected')
);
CREATE INDEX files_by_engagement ON files (engagement_id, created_at, id);
CREATE INDEX files_pending ON files (scan_due_at) WHERE state = 'pending';
CREATE INDEX files_to_remove ON files (id) WHERE state = 'infected' AND stored;
