-- additive
-- The presence intervals of operators up to this id no longer name the site. Null: those of every operator may.
ALTER TABLE deleted_sites ADD COLUMN forgotten_up_to uuid;
