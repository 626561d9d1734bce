import { OpenChannels } from '../../../../packages/server/src/channels/open-channels.ts';
import { Sealer } from '../../../../packages/server/src/identity/sealer.ts';
import { ClockWatch } from '../../../../packages/server/src/platform/clock/clock-watch.ts';
import { DatabaseSession } from '../../../../packages/server/src/platform/database/database-session.ts';
import { AddressGuard } from '../../../../packages/server/src/platform/outbound/address-guard.ts';
import { NameResolver } from '../../../../packages/server/src/platform/outbound/names/name-resolver.ts';
import { Dispatcher } from '../../../../packages/server/src/webhooks/dispatcher/dispatcher.ts';
import { WebhookCache } from '../../../../packages/server/src/webhooks/dispatcher/reading/webhook-cache.ts';
import { Transport } from '../../../../packages/server/src/webhooks/dispatcher/transport.ts';
import type { OpenPart } from '../cluster/history.ts';
import type { ClusterProcess } from '../cluster/process.ts';
import { DeliveryChecks } from './checks.ts';
import { Receivers } from './receivers.ts';

/** The simulated channel has no names to resolve. */
const names = new NameResolver();

/** Processes deliver the events of messages to simulated receivers. */
export const deliveries: OpenPart = ({ options: { sql }, account, random, onActivity }) => {
  const receivers = new Receivers(random, account.origins, onActivity);
  const checks = new DeliveryChecks(sql, account, receivers);
  return {
    watchesClock: true,
    open: async (process) => openDispatcher(process, receivers),
    steps: (isFrozen) => receivers.steps(isFrozen),
    clientSteps: () => receivers.changes(),
    onKilled: (process) => receivers.forget(process),
    calm: () => {
      receivers.isCalm = true;
    },
    checkStep: async () => checks.checkOwners(),
    checkCommitted: async () => checks.checkOutcomes(),
    waitsMs: async () => checks.waitsMs(),
    checkEnd: async () => checks.checkEnd(),
  };
};

async function openDispatcher(process: ClusterProcess, receivers: Receivers): Promise<() => Promise<void>> {
  const { host, hints, changes, log } = process;
  const sql = host.dispatcherSql;
  const session = await DatabaseSession.open(host.address);
  const clock = await ClockWatch.start(host.turnsSql, log).catch(async (error: unknown) => {
    await session.close();
    throw error;
  });
  const sealer = new Sealer(sql);
  const guard = new AddressGuard([], names);
  const epochOf = (destination: object): number | null =>
    [...dispatcher.destinations].find((each) => each === destination)?.epoch ?? null;
  const channels = new OpenChannels([receivers.channelOf(process, epochOf)], {
    settings: { apns: null },
    sql,
    sealer,
    guards: { registered: guard, attached: guard },
    lookup: names.lookupFor('simulation'),
  });
  const dispatcher = new Dispatcher({
    sql,
    hints,
    rowChanges: changes,
    session,
    clock,
    webhookCache: new WebhookCache({ sql, sealer, changes, channels }),
    transport: new Transport({ sql, sealer, names, channels }),
    log,
    watch: {
      outcome: () => undefined,
      batch: () => undefined,
      oldestDue: () => undefined,
      leaseLost: () => undefined,
      roundFailed: () => undefined,
    },
  });
  return async () => {
    await dispatcher.stop();
    clock.stop();
    await session.close();
  };
}
