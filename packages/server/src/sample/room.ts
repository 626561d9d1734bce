import type { Engagements } from '../engagements/room.ts';
import type { Identity } from '../identity/room.ts';
import type { App } from '../platform/http/http.ts';
import type { Platform, Room } from '../platform/room.ts';
import { sampleDataRoutes } from './routes.ts';
import { Simulations, type Pace } from './simulations.ts';

interface SampleDependencies {
  readonly identity: Identity;
  readonly engagements: Engagements;
  /** Serves the requests of the simulations. */
  readonly app: App;
  readonly pace: Partial<Pace>;
}

export function openSample(
  { database, log, guard }: Platform,
  { identity, engagements, app, pace }: SampleDependencies,
): Room {
  const { tokens, sealer } = identity;
  const { fileStore } = engagements;
  const simulations = new Simulations({ app, sql: database.sql, tokens, fileStore, log, pace });
  return {
    routes: () => sampleDataRoutes(app, { simulations, sealer, guard }),
    // Simulations send requests to this server, so they stop before it refuses requests.
    prepareToClose: async () => simulations.stop(),
  };
}
