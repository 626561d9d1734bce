import postgres from 'postgres';

/**
 * Opens a pool with postgres.js as published, for peers. Import this file first: `platform/database/postgres.ts` patches the driver while it is
 * loaded, and leaves alone one that is loaded already.
 */
export function connectPublished(text: string, max: number): postgres.Sql {
  const url = new URL(text);
  const directory = url.searchParams.get('host');
  url.searchParams.delete('host');
  const sql = postgres(url.href, { max, ...(directory === null ? {} : { host: directory }) });
  if ('poolLoad' in sql) throw new Error('the driver is patched: import published-driver.ts first');
  return sql;
}
