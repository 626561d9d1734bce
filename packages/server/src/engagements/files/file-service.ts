import type { LookupFunction } from 'node:net';
import type { ScannerChoice } from '../../config.ts';
import type { Hints } from '../../events/hints.ts';
import type { Sql } from '../../platform/database/database.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/watching/metrics.ts';
import { scanWithClamd } from './clamd.ts';
import type { FileStore } from './file-store.ts';
import { countScans, watchPending, type ScanOutcome } from './scan-metrics.ts';
import { Scans } from './scans.ts';

/** What the file routes share. */
export interface FileService {
  readonly fileStore: FileStore;
  readonly scanner: ScannerChoice;
  /** Called after a file was stored. */
  readonly onStored: () => void;
  readonly onScan: (outcome: ScanOutcome) => void;
  readonly stop: () => Promise<void>;
}

interface FileServiceOptions {
  readonly sql: Sql;
  readonly fileStore: FileStore;
  readonly scanner: ScannerChoice;
  readonly hints: Hints;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Resolves the scanner's host name. */
  readonly lookup: LookupFunction;
}

/** Starts the background scans if the scanner is clamd. */
export function startFileService(options: FileServiceOptions): FileService {
  const { sql, fileStore, scanner, hints, log, metrics, lookup } = options;
  const onScan = countScans(metrics.registry);
  watchPending(metrics.registry, sql);
  if (scanner.kind !== 'clamd')
    return { fileStore, scanner, onStored: () => undefined, onScan, stop: async () => undefined };
  const scans = new Scans({
    sql,
    fileStore,
    log,
    scan: async (bytes, signal) => scanWithClamd({ ...scanner, lookup }, bytes, signal),
    onResult: (accountId) => hints.notify(accountId),
    onScan,
  });
  return { fileStore, scanner, onStored: () => scans.wake(), onScan, stop: async () => scans.stop() };
}
