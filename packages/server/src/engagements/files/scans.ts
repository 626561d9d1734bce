import { isDatabaseUnavailable, type Sql } from '../../platform/database/database.ts';
import { DueWork } from '../../platform/database/due-work.ts';
import type { AccountId, FileId } from '../../platform/ids.ts';
import type { Log } from '../../platform/log.ts';
import { ScanFault, type Verdict } from './clamd.ts';
import type { FileStore } from './file-store.ts';
import type { ScanOutcome } from './scan-metrics.ts';
import { recordScan } from './record-scan.ts';
import { claimDueFiles, postponeScan, type DueFile } from './store.ts';

const concurrency = 4;
/** Longer than a scan may take. After that the process counts as dead and another one scans the file. */
const leaseMs = 150_000;
const firstRetryMs = 1_000;
const maxRetryMs = 60_000;

interface ScanOptions {
  readonly sql: Sql;
  readonly fileStore: FileStore;
  readonly log: Log;
  readonly scan: (bytes: AsyncIterable<Buffer>, signal: AbortSignal) => Promise<Verdict>;
  /** Called after a result was committed. */
  readonly onResult: (accountId: AccountId) => void;
  readonly onScan: (outcome: ScanOutcome) => void;
}

/**
 * Scans pending files in the background. Several processes may do so: a process claims a file with a lease, and only the first result
 * is written. A file that cannot be scanned stays pending and is retried without limit.
 */
export class Scans {
  readonly #options: ScanOptions;
  readonly #stopped = new AbortController();
  readonly #work: DueWork<DueFile>;

  constructor(options: ScanOptions) {
    this.#options = options;
    this.#work = new DueWork({
      what: 'a scan',
      atOnce: concurrency,
      claim: async (room) => claimDueFiles(options.sql, room, leaseMs),
      handle: async (file) => this.#scan(file),
      log: options.log,
    });
    this.wake();
  }

  /** Looks for due scans now. */
  wake(): void {
    this.#work.wake();
  }

  /** Stops and releases its claims, so that another process need not wait for the leases to expire. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#work.stop();
  }

  async #scan({ id, engagement_id: engagementId, scan_attempts: attempts }: DueFile): Promise<void> {
    const { sql, fileStore, log, onResult, onScan } = this.#options;
    let verdict: Verdict;
    let accountId: AccountId | null;
    try {
      verdict = await this.#verdictOn(id);
      accountId = await recordScan(sql, fileStore, { id, engagementId, result: verdict.result });
    } catch (error) {
      const isStopped = this.#stopped.signal.aborted;
      if (!isStopped) {
        onScan('failed');
        const reason = error instanceof ScanFault ? { reason: error.message } : { err: error };
        log.warn({ file_id: id, attempts, ...reason }, 'could not scan a file; the scan will be retried');
      }
      await this.#postpone(id, isStopped ? 0 : retryMs(attempts));
      return;
    }
    // The result is committed: an error from here on is not a failed scan.
    if (accountId === null) return;
    onResult(accountId);
    onScan(verdict.result);
    if (verdict.result === 'infected')
      log.warn({ file_id: id, signature: verdict.signature }, 'an uploaded file is infected');
  }

  async #verdictOn(id: FileId): Promise<Verdict> {
    const file = await this.#options.fileStore.open(id);
    if (file === null) throw new ScanFault('the bytes of the file are not in the USHER_DATA_DIR of this process');
    const bytes = file.createReadStream();
    try {
      return await this.#options.scan(bytes, this.#stopped.signal);
    } finally {
      bytes.destroy();
    }
  }

  /** If this fails too, the lease expires. */
  async #postpone(id: FileId, delayMs: number): Promise<void> {
    try {
      await postponeScan(this.#options.sql, id, delayMs);
    } catch (error) {
      if (!isDatabaseUnavailable(error)) this.#options.log.error({ err: error }, 'could not postpone a scan');
    }
  }
}

function retryMs(attempts: number): number {
  return Math.min(firstRetryMs * 2 ** Math.min(attempts - 1, 10), maxRetryMs);
}
