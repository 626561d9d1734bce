import postgres from 'postgres';

/** Opens a pool with postgres.js, for peers. */
export function connectPublished(text: string, max: number): postgres.Sql {
  const url = new URL(text);
  const directory = url.searchParams.get('host');
  url.searchParams.delete('host');
  return postgres(url.href, { max, ...(directory === null ? {} : { host: directory }) });
}
