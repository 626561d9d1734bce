-- The name by which visitors know an operator. NULL: the operator's own name.
ALTER TABLE operators ADD COLUMN display_name text CHECK (char_length(display_name) BETWEEN 1 AND 255);
