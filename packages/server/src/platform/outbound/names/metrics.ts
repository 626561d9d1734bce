import { Gauge, type Registry } from 'prom-client';
import type { NameResolver } from './name-resolver.ts';

export function watchNames(registry: Registry, names: NameResolver): void {
  new Gauge({
    name: 'usher_name_lookups',
    help: 'Lookups of host names in DNS, running and waiting',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      const { underWay, waiting } = names.counts;
      this.set({ state: 'under_way' }, underWay);
      this.set({ state: 'waiting' }, waiting);
    },
  });
}
