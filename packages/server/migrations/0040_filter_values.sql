-- additive
-- The values that `filter_path` compares with, as its variables. A path that was compiled before this column names its values itself.
ALTER TABLE webhooks ADD COLUMN filter_values jsonb NOT NULL DEFAULT '{}';
