-- additive
-- Which of the subscribed events a webhook is sent: as the request gave it, and compiled. null: all of them.
ALTER TABLE webhooks ADD COLUMN filter json;
ALTER TABLE webhooks ADD COLUMN filter_path jsonpath;
