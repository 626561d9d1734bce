import type { Caller } from '../identity/caller.ts';
import { isDatabaseUnavailable } from '../platform/database/database.ts';
import type { AccountId, OperatorId, VisitorId } from '../platform/ids.ts';
import type { Log } from '../platform/log.ts';
import type { Turns } from '../routing/turns.ts';

/** The lease of presence, and how often it is renewed. */
const leaseMs = 30_000;
const renewEveryMs = 10_000;

/** Operators and visitors of one account with the number of open feeds that hold their presence. */
interface PresenceHolds {
  readonly operators: Map<OperatorId, number>;
  readonly visitors: Map<VisitorId, number>;
}

/** D5.5: a feed opened with `hold_presence` renews its reader's lease while it is open; then the lease runs out. */
export class PresenceHolder {
  readonly #turns: Turns;
  readonly #log: Log;
  readonly #accounts = new Map<AccountId, PresenceHolds>();
  readonly #timer: NodeJS.Timeout;

  constructor(turns: Turns, log: Log) {
    this.#turns = turns;
    this.#log = log;
    this.#timer = setInterval(() => this.#renewAll(), renewEveryMs).unref();
  }

  /** Resolves once the lease is in force. */
  async hold(caller: Caller): Promise<void> {
    if (caller.kind !== 'operator' && caller.kind !== 'visitor') return;
    const holds = this.#accounts.get(caller.accountId) ?? { operators: new Map(), visitors: new Map() };
    this.#accounts.set(caller.accountId, holds);
    if (caller.kind === 'operator') add(holds.operators, caller.operatorId, 1);
    else add(holds.visitors, caller.visitorId, 1);
    const operatorIds = caller.kind === 'operator' ? [caller.operatorId] : [];
    const visitorIds = caller.kind === 'visitor' ? [caller.visitorId] : [];
    await this.#turns.run(caller.accountId, { name: 'renewPresence', operatorIds, visitorIds, leaseMs });
  }

  release(caller: Caller): void {
    if (caller.kind !== 'operator' && caller.kind !== 'visitor') return;
    const holds = this.#accounts.get(caller.accountId);
    if (holds === undefined) return;
    if (caller.kind === 'operator') add(holds.operators, caller.operatorId, -1);
    else add(holds.visitors, caller.visitorId, -1);
    if (holds.operators.size + holds.visitors.size === 0) this.#accounts.delete(caller.accountId);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #renewAll(): void {
    for (const [accountId, { operators, visitors }] of this.#accounts) {
      const who = { operatorIds: [...operators.keys()], visitorIds: [...visitors.keys()] };
      this.#turns.run(accountId, { name: 'renewPresence', ...who, leaseMs }).catch((error: unknown) => {
        if (!isDatabaseUnavailable(error)) this.#log.error({ err: error }, 'could not renew presence');
      });
    }
  }
}

function add<Id>(counts: Map<Id, number>, id: Id, by: 1 | -1): void {
  const count = (counts.get(id) ?? 0) + by;
  if (count > 0) counts.set(id, count);
  else counts.delete(id);
}
