import { Gauge, type Registry } from 'prom-client';
import { CachedReading } from '../../../platform/cached-reading.ts';
import type { Sql } from '../../../platform/database/database.ts';
import { channels } from '../../../channels/channels.ts';
import { countLeases, readBacklog, type SchemeBacklog } from './backlog-store.ts';

/** Deliveries of one destination that a reading counts: a longer backlog costs no more. */
const maxCounted = 10_000;

/** Gauges of the waiting deliveries and of the leases, in all processes. */
export function watchBacklog(registry: Registry, sql: Sql): void {
  const registers = [registry];
  const backlog = new CachedReading(async () => byChannel(await readBacklog(sql, maxCounted)));
  new Gauge({
    name: 'usher_deliveries_backlog',
    help: `Deliveries that wait, by channel and state, in all processes: pending (not yet attempted) or retrying. Of one destination at most ${maxCounted} of each are counted`,
    labelNames: ['channel', 'state'],
    registers,
    async collect() {
      const counts = await backlog.get();
      this.reset();
      for (const { channel, pending, retrying } of counts ?? []) {
        this.set({ channel, state: 'pending' }, pending);
        this.set({ channel, state: 'retrying' }, retrying);
      }
    },
  });
  new Gauge({
    name: 'usher_deliveries_channel_oldest_due_seconds',
    help: 'How long the oldest due delivery of a channel has been due, in all processes',
    labelNames: ['channel'],
    registers,
    async collect() {
      const counts = await backlog.get();
      this.reset();
      for (const { channel, oldestDueSec } of counts ?? []) this.set({ channel }, oldestDueSec);
    },
  });
  const leases = new CachedReading(async () => countLeases(sql));
  new Gauge({
    name: 'usher_delivery_leases',
    help: 'Leases of destinations, in all processes: live, or expired because their process died',
    labelNames: ['state'],
    registers,
    async collect() {
      const counts = await leases.get();
      this.reset();
      for (const [state, count] of Object.entries(counts ?? {})) this.set({ state }, count);
    },
  });
}

interface ChannelBacklog extends Omit<SchemeBacklog, 'scheme'> {
  readonly channel: string;
}

/** A channel may have several schemes, such as `http` and `https`. A channel without destinations has a backlog of 0. */
function byChannel(rows: readonly SchemeBacklog[]): ChannelBacklog[] {
  return channels.map(({ kind, schemes }) => {
    const own = rows.filter(({ scheme }) => schemes.includes(scheme));
    const total = (read: (row: SchemeBacklog) => number): number => own.reduce((sum, row) => sum + read(row), 0);
    return {
      channel: kind,
      pending: total(({ pending }) => pending),
      retrying: total(({ retrying }) => retrying),
      oldestDueSec: Math.max(0, ...own.map(({ oldestDueSec }) => oldestDueSec)),
    };
  });
}
