import type { Sql as PoolSql } from 'postgres';
import { connect, type DatabaseAddress } from './database.ts';
import type { DiskRoom } from './disk-room.ts';
import type { Log } from './log.ts';
import { pools } from './pools.ts';

/** A database that could not be told is told again. */
const lookMs = 1_000;
/** While the disk is full, a checkpoint lets PostgreSQL remove what its log no longer needs. */
const checkpointMs = 10_000;

/**
 * Makes the embedded database refuse writes while its disk is full. The database itself refuses them, so that nobody is forgotten:
 * requests, turns, deliveries, housekeeping. Transactions that have begun may still commit; reads go on.
 *
 * PostgreSQL keeps the setting when it restarts (ALTER SYSTEM). So the switch is set at each start, before anybody writes.
 */
export class WriteSwitch {
  readonly #sql: PoolSql;
  readonly #room: DiskRoom;
  readonly #log: Log;
  readonly #timer: NodeJS.Timeout;
  /** What the database was last told; `null`: it has not been told yet. */
  #refuses: boolean | null = null;
  #isAtWork = false;
  #checkpointAt = 0;

  constructor(address: DatabaseAddress, room: DiskRoom, log: Log) {
    this.#sql = connect(address, pools.writeSwitch);
    this.#room = room;
    this.#log = log;
    room.onChange(() => void this.#look());
    this.#timer = setInterval(() => void this.#look(), lookMs).unref();
  }

  /** Tells the database whether it is to take writes. */
  async set(): Promise<void> {
    const { isFull } = this.#room;
    await (isFull
      ? this.#sql`ALTER SYSTEM SET default_transaction_read_only = on`
      : this.#sql`ALTER SYSTEM RESET default_transaction_read_only`);
    await this.#sql`SELECT pg_reload_conf()`;
    if (isFull) this.#log.error('the disk of USHER_DATA_DIR is full: nothing is written until there is room');
    else if (this.#refuses === true) this.#log.warn('the disk of USHER_DATA_DIR has room again: writes go on');
    this.#refuses = isFull;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#sql.end({ timeout: 1 });
  }

  async #look(): Promise<void> {
    if (this.#isAtWork) return;
    this.#isAtWork = true;
    try {
      if (this.#refuses !== this.#room.isFull) await this.set();
      if (this.#refuses === true && Date.now() - this.#checkpointAt > checkpointMs) {
        this.#checkpointAt = Date.now();
        await this.#sql`CHECKPOINT`;
      }
    } catch (error) {
      this.#log.warn({ err: error }, 'the database could not be told whether to take writes; it is tried again');
    } finally {
      this.#isAtWork = false;
    }
  }
}
