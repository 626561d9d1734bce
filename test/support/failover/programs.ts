import { globSync } from 'node:fs';
import { findProgram } from '../processes/programs.ts';

/** Patroni with its client for etcd, which is a package of its own; `null` if one of them is not installed. */
export function findPatroni(): string | null {
  const [client] = globSync('/usr/{lib,local/lib}/python3*/dist-packages/etcd/__init__.py');
  return client === undefined ? null : findProgram('patroni');
}
