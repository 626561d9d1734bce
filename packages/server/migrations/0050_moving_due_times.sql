-- additive
-- The due times of a destination are moved in batches after a step of the clock: by how many milliseconds they are being moved, and
-- which delivery was the last one. All null: none are being moved, and all include clock_shift_ms.
ALTER TABLE destinations ADD COLUMN moving_by_ms bigint;
ALTER TABLE destinations ADD COLUMN moved_to timestamptz(3);
ALTER TABLE destinations ADD COLUMN moved_to_seq bigint;
