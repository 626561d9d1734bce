import type { Events } from '../events/room.ts';
import type { Identity } from '../identity/room.ts';
import { pools } from '../platform/database/pools.ts';
import type { Platform, Room } from '../platform/room.ts';
import type { Queues } from '../queues/room.ts';
import { intervalRoutes } from './presence/intervals-routes.ts';
import { dropOldIntervals } from './presence/intervals-store.ts';
import { presenceRoutes } from './presence/routes.ts';
import { reportRoutes } from './reports/routes.ts';
import { statisticsRoutes } from './statistics/routes.ts';
import { ticketRoutes } from './tickets/routes.ts';
import { countTurns, watchTurns } from './turn-metrics.ts';
import { dropOldMoves } from './turn-store.ts';
import { Turns } from './turns.ts';

export interface Routing {
  readonly turns: Turns;
}

interface RoutingDependencies {
  readonly identity: Identity;
  readonly events: Events;
  readonly queues: Queues;
}

export function openRouting(platform: Platform, { identity, events, queues }: RoutingDependencies): Room & Routing {
  const { config, database, changes, clock, log, metrics, tracer } = platform;
  const { hints, attacher } = events;
  const sql = database.connect(pools.turns);
  const statistics = database.connect(pools.statistics);
  const turns = new Turns({
    sql,
    changes,
    clock,
    log,
    onOutdated: (accountId) => queues.siteQueues.invalidate(accountId),
    hintOf: (accountId) => hints.payload(accountId),
    onWritten: (accountId, isHinted) => (isHinted ? hints.notifyHere(accountId) : hints.notify(accountId)),
    onTurn: countTurns(metrics.registry),
    tracer,
    poll: metrics.work.add('poll_due_accounts', 1),
  });
  watchTurns(metrics.registry, turns);
  return {
    turns,
    routes(app) {
      ticketRoutes(app, { turns, attacher, addressOf: identity.addressOf, tokens: identity.tokens });
      presenceRoutes(app, turns);
      intervalRoutes(app);
      reportRoutes(app);
      statisticsRoutes(app, statistics);
    },
    sweeps: {
      // Deleting a move too early only makes a process reload a board, so an uncertain clock does not matter.
      always: { drop_board_moves: async (shouldContinue) => dropOldMoves(database.sql, shouldContinue) },
      expired: {
        drop_presence_intervals: async ({ now }, shouldContinue) =>
          dropOldIntervals(database.sql, { now, days: config.presenceRetentionDays }, shouldContinue),
      },
    },
    async close() {
      await statistics.end({ timeout: 1 });
      await turns.stop();
      await sql.end({ timeout: 1 });
    },
  };
}
