import type { LookupFunction } from 'node:net';
import type { ScannerChoice } from '../../config.ts';
import type { Hints } from '../../events/hints.ts';
import type { Sql } from '../../platform/database.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { scanWithClamd } from './clamd.ts';
import type { FileStore } from './file-store.ts';
import { countScans, watchPending, type ScanTold } from './scan-metrics.ts';
import { Scans } from './scans.ts';

/** What the routes of files share. */
export interface FileService {
  readonly fileStore: FileStore;
  readonly scanner: ScannerChoice;
  /** A file has come in. */
  readonly onStored: () => void;
  readonly onScan: (told: ScanTold) => void;
  readonly stop: () => Promise<void>;
}

interface FileServiceParts {
  readonly sql: Sql;
  readonly fileStore: FileStore;
  readonly scanner: ScannerChoice;
  readonly hints: Hints;
  readonly log: Log;
  readonly metrics: Metrics;
  /** How the scanner's name is resolved. */
  readonly lookup: LookupFunction;
}

/** Begins to scan, where that is a program's work. */
export function startFileService(parts: FileServiceParts): FileService {
  const { sql, fileStore, scanner, hints, log, metrics, lookup } = parts;
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
