import { databaseErrorCode } from '../platform/database/database.ts';
import { Refusal, StartError } from '../platform/errors.ts';

/** What was being done: it decides which disk is full, and what a closed pipe means. */
export type Operation = 'backup' | 'restore' | 'check' | 'export' | 'import';

/** Turns a failure that the user can mend into one line. Other errors are returned as they are. */
export function describeFault(error: unknown, operation: Operation, file: string): unknown {
  if (error instanceof StartError) return error;
  const name = file === '-' ? 'the standard stream' : file;
  const advice =
    error instanceof Refusal ? fileStoreFault(error) : adviceFor(databaseErrorCode(error), operation, name);
  return advice === null ? error : new StartError(`${advice} ${outcome[operation]}`, { cause: error });
}

const outcome: Readonly<Record<Operation, string>> = {
  backup: 'No backup was made.',
  restore: 'Nothing was restored.',
  check: 'The backup was not checked.',
  export: 'The account was not exported, and goes on here.',
  import: 'Nothing was imported.',
};

function fileStoreFault({ code }: Refusal): string {
  return code === 'storage_full' || code === 'insufficient_storage'
    ? 'The storage of uploaded files is full. Free space on the disk of USHER_DATA_DIR, or in the bucket of USHER_FILES.'
    : 'Uploaded files cannot be read or written. Check the rights of USHER_DATA_DIR, or the bucket of USHER_FILES with usher doctor, and run the command as the user who runs Usher.';
}

function adviceFor(code: string | null, operation: Operation, name: string): string | null {
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
    case 'EFBIG':
      return `There is no space left for ${name}. Free space, or name a file on another disk.`;
    case 'EPIPE':
    case 'ERR_STREAM_PREMATURE_CLOSE':
      return isWriting(operation)
        ? 'The program that reads the backup ended before the backup did. See what it reported.'
        : `${name} ended too early.`;
    case 'ENOENT':
      return isWriting(operation)
        ? `The folder of ${name} does not exist. Create it, or name another file.`
        : `${name} does not exist. Check the path.`;
    case 'EISDIR':
    case 'ENOTDIR':
      return `${name} is not a file. Name a file.`;
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return `${name} may not be ${isWriting(operation) ? 'written' : 'read'} (${code}). Correct its rights, or name another file.`;
    case '53100':
    case '25006':
      return 'The disk of the database is full, or the database is read-only. Free space, or use the primary server.';
    case '53200':
      return 'PostgreSQL is out of shared memory. Raise max_locks_per_transaction and restart PostgreSQL.';
    case '42501':
      return 'The database user lacks rights. It must own the tables, or be allowed to create them.';
    case 'CONNECTION_CLOSED':
    case 'CONNECTION_ENDED':
    case 'CONNECTION_DESTROYED':
    case 'ECONNRESET':
    case '57P01':
      return 'The connection to the database was lost. Try again when the database is stable.';
    default:
      return null;
  }
}

function isWriting(operation: Operation): boolean {
  return operation === 'backup' || operation === 'export';
}
