import { chance } from './chance.ts';

/** The share of deliveries that is refused at first, so that the console shows retries. */
const refusedShare = 1 / 12;
/** How long after the event deliveries are refused. */
const refusedForSec = 4;

/** Whether the receiver of sample data refuses a delivery now. A repeated delivery has the same id. */
export function refuses(deliveryId: string, ageSec: number): boolean {
  return ageSec < refusedForSec && chance(0, 'refused', deliveryId) < refusedShare;
}
