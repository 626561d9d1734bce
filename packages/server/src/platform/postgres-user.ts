import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { StartError } from './errors.ts';

/**
 * Who the embedded PostgreSQL runs as. It refuses root, so a root Usher hands it to another user: the one who owns the
 * cluster, the data directory or the folder that holds it, else `postgres` or `nobody`.
 *
 * That user may be unable to walk to the files, as when the clone lies in root's own home. On Linux it is then given the
 * one capability that opens directories (`setpriv`, from util-linux), and nothing else of root's.
 */
export interface PostgresUser {
  /** What the files of the database must belong to; `null` where Usher is not root and nothing changes hands. */
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
  // Without the bit, access(2) forgets the capability, and initdb does not find the server beside itself.
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
  // macOS writes nobody's id as -2, which the system calls take as an unsigned number.
  return { uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 };
}

/** Whether `owner` may search every directory above `path`. Groups beyond its own are not considered. */
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

/** The least capability this process has that lets another user walk through closed directories (Linux only). */
function directoryCapability(): 'dac_read_search' | 'dac_override' | null {
  if (process.platform !== 'linux') return null;
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  const held = BigInt(`0x${effective ?? '0'}`);
  if ((held & 0b100n) !== 0n) return 'dac_read_search';
  return (held & 0b010n) === 0n ? null : 'dac_override';
}
