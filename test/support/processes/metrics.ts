import { call } from '../server.ts';
import { expectStatus } from '../world.ts';

/** The numbers of a scrape by series, as they are written: `usher_queue_visitors{queue_id="…"}`. */
export type Scrape = ReadonlyMap<string, number>;

export async function scrape(server: { readonly url: string }): Promise<Scrape> {
  return parseMetrics(expectStatus(await call(server, 'GET /metrics'), 200).body);
}

export function parseMetrics(text: string): Scrape {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const end = line.lastIndexOf(' ');
      return [line.slice(0, end), Number(line.slice(end + 1))];
    }),
  );
}
