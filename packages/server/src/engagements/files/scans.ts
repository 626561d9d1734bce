import { isDatabaseUnavailable, type Sql } from '../../platform/database.ts';
import { DueWork } from '../../platform/due-work.ts';
import type { AccountId, FileId } from '../../platform/ids.ts';
import type { Log } from '../../platform/log.ts';
import { ScanFault, type Verdict } from './clamd.ts';
import type { FileStore } from './file-store.ts';
import type { ScanTold } from './scan-metrics.ts';
import { settleScan } from './settle-scan.ts';
import { claimDueFiles, postponeScan, type DueFile } from './store.ts';

const atOnce = 4;
/** Longer than a scan may take: who has not come back by then is taken for dead, and another process scans. */
const leaseMs = 150_000;
const firstRetryMs = 1_000;
const longestRetryMs = 60_000;

interface ScanParts {
  readonly sql: Sql;
  readonly disk: FileStore;
  readonly log: Log;
  readonly scan: (bytes: AsyncIterable<Buffer>, signal: AbortSignal) => Promise<Verdict>;
  /** Called after the commit of a result. */
  readonly onResult: (accountId: AccountId) => void;
  readonly onScan: (told: ScanTold) => void;
}

/**
 * Scans what is pending, in the background. Any number of processes may: a file is claimed for the length of a lease, and
 * its result written by whoever is first. What cannot be scanned stays pending, for as long as it takes.
 */
export class Scans {
  readonly #parts: ScanParts;
  readonly #stopped = new AbortController();
  readonly #work: DueWork<DueFile>;

  constructor(parts: ScanParts) {
    this.#parts = parts;
    this.#work = new DueWork({
      what: 'a scan',
      atOnce,
      claim: async (room) => claimDueFiles(parts.sql, room, leaseMs),
      handle: async (file) => this.#scan(file),
      log: parts.log,
    });
    this.wake();
  }

  /** Something may be due. */
  wake(): void {
    this.#work.wake();
  }

  /** Gives back what it was scanning, so that another process need not wait for the lease. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#work.stop();
  }

  async #scan({ id, engagement_id: engagementId, scan_attempts: attempts }: DueFile): Promise<void> {
    const { sql, disk, log, onResult, onScan } = this.#parts;
    try {
      const verdict = await this.#verdictOn(id);
      const accountId = await settleScan(sql, disk, { id, engagementId, result: verdict.result });
      if (accountId === null) return;
      onResult(accountId);
      onScan(verdict.result);
      if (verdict.result === 'infected')
        log.warn({ file_id: id, signature: verdict.signature }, 'an uploaded file is infected');
    } catch (error) {
      const isStopped = this.#stopped.signal.aborted;
      if (!isStopped) {
        onScan('failed');
        const reason = error instanceof ScanFault ? { reason: error.message } : { err: error };
        log.warn({ file_id: id, attempts, ...reason }, 'a file could not be scanned; it is tried again');
      }
      await this.#postpone(id, isStopped ? 0 : retryMs(attempts));
    }
  }

  async #verdictOn(id: FileId): Promise<Verdict> {
    const file = await this.#parts.disk.open(id);
    if (file === null) throw new ScanFault('its bytes are not in the USHER_DATA_DIR of this process');
    const bytes = file.createReadStream();
    try {
      return await this.#parts.scan(bytes, this.#stopped.signal);
    } finally {
      bytes.destroy();
    }
  }

  /** If this fails too, the lease runs out by itself. */
  async #postpone(id: FileId, delayMs: number): Promise<void> {
    try {
      await postponeScan(this.#parts.sql, id, delayMs);
    } catch (error) {
      if (!isDatabaseUnavailable(error)) this.#parts.log.error({ err: error }, 'a scan could not be postponed');
    }
  }
}

function retryMs(attempts: number): number {
  return Math.min(firstRetryMs * 2 ** Math.min(attempts - 1, 10), longestRetryMs);
}
