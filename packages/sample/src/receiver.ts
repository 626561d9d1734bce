import { chance } from './chance.ts';

/** One in so many deliveries is refused at first, so that there are retries to look at. */
const refusedShare = 1 / 12;
/** For so long after the event. */
const refusedForSec = 4;

/** Whether the receiver of sample data refuses a delivery now. A repeated delivery has the same id. */
export function refuses(deliveryId: string, ageSec: number): boolean {
  return ageSec < refusedForSec && chance(0, 'refused', deliveryId) < refusedShare;
}
