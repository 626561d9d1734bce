-- additive
-- A process may serve with a role that does not own the tables (docs/guide/database.md). These functions create and drop the partitions of the
-- daily logs, so they run with the rights of their owner, and only roles that were granted it may call them.
DO $$
DECLARE
  f text;
BEGIN
  FOREACH f IN ARRAY ARRAY['make_day(text, text, date)', 'drop_oldest_day(text, date)', 'drop_days_before(text, text, date)'] LOOP
    EXECUTE format('ALTER FUNCTION %s SECURITY DEFINER SET search_path = %I, pg_temp', f, current_schema());
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', f);
  END LOOP;
END $$;
