import type { Engagements } from '../engagements/room.ts';
import type { Platform, Room } from '../platform/room.ts';
import { removeRemains } from './remove-remains.ts';
import { siteDeletionRoutes } from './routes.ts';

export function openSiteDeletion({ database }: Platform, { disk }: Engagements): Room {
  return {
    routes: siteDeletionRoutes,
    // Deleted sites are recorded by a request, so a wrong clock cannot delete anything here.
    sweeps: { always: [async (isOver) => removeRemains(database.sql, disk, isOver)] },
  };
}
