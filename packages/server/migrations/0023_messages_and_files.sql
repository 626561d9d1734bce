-- The name by which visitors know an operator. NULL: the operator's own name.
ALTER TABLE operators ADD COLUMN display_name text CHECK (char_length(display_name) BETWEEN 1 AND 255);

-- `undelivered_messages` speaks of chat messages only. Messages of the system had been counted with them: the engagements that
-- go on are counted anew. All of those go to the operator.
UPDATE engagements e
   SET undelivered_to_operator = (SELECT count(*)
                                    FROM chat_messages m
                                   WHERE m.engagement_id = e.id AND m.target = 'operator' AND m.type = 'chat'
                                     AND m.status = 'sent')
 WHERE e.id IN (SELECT engagement_id FROM active_engagements) AND e.undelivered_to_operator > 0;

-- An empty welcome message had greeted every visitor with an empty message. It means not set.
UPDATE queues SET welcome_message = NULL WHERE welcome_message = '';

-- The medium of a sub-engagement when it ended. NULL: it ended before this column was there.
ALTER TABLE sub_engagements ADD COLUMN media text;

-- What clients of this family say with a media upgrade request. It is kept and shown, and decides nothing.
ALTER TABLE media_upgrade_requests
  ADD COLUMN audio_type      text,
  ADD COLUMN phone_number    text,
  ADD COLUMN phone_extension text;

-- A file that was deleted: its row stays, so that downloads are answered with 410 and messages say that the file is deleted.
ALTER TABLE files
  ADD COLUMN deleted_at timestamptz(3),
  ADD COLUMN deleted_by text CHECK (deleted_by IN ('visitor', 'operator')),
  -- It was `CHECK (stored OR state = 'infected')`, so every row there is fits the new one: nothing need be looked at.
  DROP CONSTRAINT files_check1,
  ADD CONSTRAINT files_bytes_are_there CHECK (stored OR state = 'infected' OR deleted_at IS NOT NULL) NOT VALID,
  ADD CONSTRAINT files_deleted_by_somebody CHECK ((deleted_at IS NULL) = (deleted_by IS NULL)) NOT VALID;
-- Visitors may delete what they sent, and that is in the audit log too.
ALTER TABLE audit_log ADD COLUMN actor_type text NOT NULL DEFAULT 'operator' CHECK (actor_type IN ('operator', 'visitor'));

-- What is deleted is not scanned, and its bytes go like those of infected files.
DROP INDEX files_pending, files_to_remove;
CREATE INDEX files_pending ON files (scan_due_at) WHERE state = 'pending' AND deleted_at IS NULL;
CREATE INDEX files_to_remove ON files (id) WHERE stored AND (state = 'infected' OR deleted_at IS NOT NULL);
