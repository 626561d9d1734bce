import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { StartError } from '../errors.ts';

/**
 * The user that the embedded PostgreSQL runs as. PostgreSQL refuses to run as root, so if Usher runs as root, it starts
 * PostgreSQL as the owner of the cluster, of the data directory or of its parent, else as `postgres` or `nobody`.
 *
 * That user may be unable to reach the files, for example when the clone is in root's home. On Linux the process is then given
 * only the capability to enter directories (`setpriv`, from util-linux).
 */
export interface PostgresUser {
  /** The owner that the database files need; `null` if Usher does not run as root. */
  readonly owner: { readonly uid: number; readonly gid: number } | null;
  run(program: string, args: readonly string[], stdio: StdioOptions, detached: boolean): ChildProcess;
}

export function choosePostgresUser(dataDir: string, program: string): PostgresUser {
  if (process.getuid?.() !== 0) {
    return { owner: null, run: (file, args, stdio, detached) => spawn(file, args, { stdio, detached }) };
  }
  const owner =
    ownerOf(join(dataDir, 'postgres')) ??
    ownerOf(dataDir) ??
    ownerOf(dirname(dataDir)) ??
    knownUser('postgres') ??
    knownUser('nobody');
  if (owner === null) {
    throw new StartError(
      'PostgreSQL refuses to run as root and there is no user to run it as. Start Usher as another user.',
    );
  }
  const { uid, gid } = owner;
  if ([join(dataDir, 'postgres'), program].every((path) => canReach(path, owner))) {
    return { owner, run: (file, args, stdio, detached) => spawn(file, args, { stdio, detached, uid, gid, cwd: '/' }) };
  }
  const setpriv = ['/usr/bin/setpriv', '/bin/setpriv'].find(isExecutable);
  const capability = directoryCapability();
  if (setpriv === undefined || capability === null) {
    throw new StartError(
      `PostgreSQL refuses to run as root, and user ${uid} cannot enter ${dirname(dataDir)}. Start Usher as another user, or move it to a directory that others may enter.`,
    );
  }
  // Without this bit access(2) ignores the capability, and initdb does not find the server binary next to it.
  const prefix = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--securebits=+no_setuid_fixup'];
  const capabilities = [
    `--inh-caps=-all,+${capability}`,
    `--ambient-caps=-all,+${capability}`,
    `--bounding-set=-all,+${capability}`,
  ];
  return {
    owner,
    run: (file, args, stdio, detached) =>
      spawn(setpriv, [...prefix, ...capabilities, '--', file, ...args], { stdio, detached, cwd: '/' }),
  };
}

type Owner = NonNullable<PostgresUser['owner']>;

function ownerOf(directory: string): Owner | null {
  const found = statSync(directory, { throwIfNoEntry: false });
  return found === undefined || found.uid === 0 ? null : { uid: found.uid, gid: found.gid };
}

function knownUser(name: string): Owner | null {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((candidate) => candidate.startsWith(`${name}:`));
  const [, , uid, gid] = line?.split(':') ?? [];
  if (uid === undefined || gid === undefined) return null;
  // macOS writes the id of `nobody` as -2, which system calls take as an unsigned number.
  return { uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 };
}

/** Whether `owner` may enter every directory above `path`. Only the owner's primary group is considered. */
function canReach(path: string, owner: Owner): boolean {
  const parent = dirname(path);
  if (parent === path) return true;
  const { mode, uid, gid } = statSync(parent);
  const searchBit = uid === owner.uid ? 0o100 : gid === owner.gid ? 0o010 : 0o001;
  return (mode & searchBit) !== 0 && canReach(parent, owner);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The smallest capability of this process that lets another user enter closed directories (Linux only). */
function directoryCapability(): 'dac_read_search' | 'dac_override' | null {
  if (process.platform !== 'linux') return null;
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  const capabilities = BigInt(`0x${effective ?? '0'}`);
  if ((capabilities & 0b100n) !== 0n) return 'dac_read_search';
  return (capabilities & 0b010n) === 0n ? null : 'dac_override';
}
