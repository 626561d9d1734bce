import { connect, type DatabaseAddress, type PoolSql } from '../database/database.ts';
import type { DiskWatch } from './disk-watch.ts';
import type { Log } from '../log.ts';
import { pools } from '../database/pools.ts';

/** How often a failed switch is retried. */
const retryMs = 1_000;
/** While the disk is full, a checkpoint lets PostgreSQL remove old WAL files. */
const checkpointMs = 10_000;

/**
 * Makes the embedded database refuse writes while its disk is full. The database itself refuses them, so that this covers all
 * writers: requests, turns, deliveries, housekeeping. Running transactions may still commit; reads continue.
 *
 * PostgreSQL keeps the setting across restarts (ALTER SYSTEM), so the switch is set at each start before the first write.
 */
export class WriteSwitch {
  readonly #sql: PoolSql;
  readonly #disk: DiskWatch;
  readonly #log: Log;
  readonly #timer: NodeJS.Timeout;
  /** The state last set in the database; `null` if none was set yet. */
  #refuses: boolean | null = null;
  #isUpdating = false;
  #checkpointAt = 0;

  constructor(address: DatabaseAddress, disk: DiskWatch, log: Log) {
    this.#sql = connect(address, pools.writeSwitch);
    this.#disk = disk;
    this.#log = log;
    disk.onChange(() => void this.#update());
    this.#timer = setInterval(() => void this.#update(), retryMs).unref();
  }

  /** Sets the database to read-only or to read-write, as the disk requires. */
  async set(): Promise<void> {
    const { isFull } = this.#disk;
    await (isFull
      ? this.#sql`ALTER SYSTEM SET default_transaction_read_only = on`
      : this.#sql`ALTER SYSTEM RESET default_transaction_read_only`);
    await this.#sql`SELECT pg_reload_conf()`;
    if (isFull) this.#log.error('the disk of USHER_DATA_DIR is full; refusing writes until it has free space');
    else if (this.#refuses === true)
      this.#log.warn('the disk of USHER_DATA_DIR has free space again; accepting writes');
    this.#refuses = isFull;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#sql.end({ timeout: 1 });
  }

  async #update(): Promise<void> {
    if (this.#isUpdating) return;
    this.#isUpdating = true;
    try {
      if (this.#refuses !== this.#disk.isFull) await this.set();
      if (this.#refuses === true && Date.now() - this.#checkpointAt > checkpointMs) {
        this.#checkpointAt = Date.now();
        await this.#sql`CHECKPOINT`;
      }
    } catch (error) {
      this.#log.warn({ err: error }, 'could not switch the database between read-only and read-write; retrying');
    } finally {
      this.#isUpdating = false;
    }
  }
}
