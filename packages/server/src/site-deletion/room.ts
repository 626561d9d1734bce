import type { Engagements } from '../engagements/room.ts';
import type { Platform, Room } from '../platform/room.ts';
import { removeRemains } from './remove-remains.ts';
import { siteDeletionRoutes } from './routes.ts';

export function openSiteDeletion({ database }: Platform, { fileStore }: Engagements): Room {
  return {
    routes: siteDeletionRoutes,
    // Deleted sites are recorded by a request, so a wrong clock cannot delete anything here.
    sweeps: {
      always: {
        remove_deleted_sites: async (shouldContinue) => removeRemains(database.sql, fileStore, shouldContinue),
      },
    },
  };
}
