import { lookup } from 'node:dns/promises';
import { access, constants, mkdir, statfs } from 'node:fs/promises';
import { createServer, connect } from 'node:net';
import { carrierAddresses } from '../../carriers/carriers.ts';
import type { Config } from '../../config.ts';
import { bucketName, type Bucket } from '../../config-files.ts';
import { faultOfBucket } from '../../engagements/files/bucket/bucket-client.ts';
import { knownMigrations, pendingMigrations } from '../../platform/database/migrations/migrations.ts';
import type { Sql } from '../../platform/database/database.ts';
import { oldestTransaction, type OldTransaction } from '../../platform/database/oldest-transaction.ts';
import { serverUrl } from '../../platform/server-url.ts';
import { command, print } from '../command.ts';
import { withStorage } from '../with-database.ts';

type Result = 'ok' | 'warning' | 'fault';

interface Finding {
  readonly check: string;
  readonly result: Result;
  /** What was found, and what to do about it. */
  readonly detail: string;
}

const timeoutMs = 5_000;
/** Clocks that differ by more than this confuse people who compare logs, and tokens of identity providers. */
const clockToleranceMs = 2_000;
const lowDiskBytes = 1e9;
const longTransactionSec = 60;

export const doctor = command({
  help: `usher doctor [--json]

  Checks the settings and everything they name: data folder, disk, port, database with its version, rights and schema,
  long transactions, clock, public URL, SMS carrier, bucket of USHER_FILES, key for Apple push notifications, STUN and TURN servers. Changes nothing, and exits with
  1 if something is wrong. Without a running server it starts the embedded database for the time of the check.

  --json   print the findings as JSON
`,
  options: { json: { type: 'boolean', default: false } },
  async run(config, { json }) {
    const findings = [
      { check: 'settings', result: 'ok', detail: 'valid' } as const,
      await dataFolder(config),
      await port(config),
      ...(await database(config)),
      ...(await services(config)),
    ];
    const mark: Record<Result, string> = { ok: 'ok', warning: 'warning', fault: 'FAULT' };
    const lines = findings.map(({ check, result, detail }) => `${mark[result].padEnd(9)}${check}: ${detail}\n`);
    print(json, { findings }, lines.join(''));
    if (findings.some(({ result }) => result === 'fault')) process.exitCode = 1;
  },
});

async function dataFolder({ dataDir }: Config): Promise<Finding> {
  const check = 'data folder';
  try {
    await mkdir(dataDir, { recursive: true });
    await access(dataDir, constants.W_OK);
    const { bavail, bsize } = await statfs(dataDir);
    const free = bavail * bsize;
    const gigabytes = `${(free / 1e9).toFixed(1)} GB free in ${dataDir}`;
    return free < lowDiskBytes
      ? { check, result: 'warning', detail: `only ${gigabytes}. Free some space.` }
      : { check, result: 'ok', detail: gigabytes };
  } catch (error) {
    return {
      check,
      result: 'fault',
      detail: `${dataDir} is not writable (${codeOf(error)}). Correct USHER_DATA_DIR or its rights.`,
    };
  }
}

async function port({ host, port: number }: Config): Promise<Finding> {
  const check = `port ${number}`;
  const probe = createServer();
  const code = await new Promise<string | null>((resolve) => {
    probe.once('error', (error) => resolve(codeOf(error)));
    probe.listen(number, host, () => probe.close(() => resolve(null)));
  });
  if (code === null) return { check, result: 'ok', detail: `free on ${host}` };
  const isOwn = code === 'EADDRINUSE' && (await answers(`${serverUrl(host, number)}/healthz`)) === null;
  return isOwn
    ? { check, result: 'ok', detail: 'Usher is running there' }
    : { check, result: 'fault', detail: `cannot be used on ${host} (${code}). Set PORT or HOST.` };
}

async function database(config: Config): Promise<readonly Finding[]> {
  try {
    return await withStorage(config, async ({ database: { sql }, location }) => {
      const before = Date.now();
      const [row] = await sql<{ version: string; mayCreate: boolean; now: Date }[]>`
        SELECT current_setting('server_version') AS version, clock_timestamp() AS now,
               has_schema_privilege(current_schema(), 'CREATE') AS "mayCreate"`;
      const pending = (await pendingMigrations(sql)).length;
      const known = (await knownMigrations()).length;
      const aheadMs = row === undefined ? 0 : row.now.getTime() - (before + Date.now()) / 2;
      const seconds = `${Math.abs(aheadMs / 1_000).toFixed(1)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} this machine`;
      return [
        { check: 'database', result: 'ok', detail: `${location}, version ${row?.version ?? 'unknown'}` },
        describeRights(config, row?.mayCreate === true),
        pending === 0
          ? { check: 'schema', result: 'ok', detail: `version ${known}` }
          : { check: 'schema', result: 'warning', detail: `${pending} migrations to apply. See usher migrate --plan.` },
        describeTransaction(await oldestTransaction(sql)),
        ...(pending === 0 ? await stoppedAccounts(sql) : []),
        Math.abs(aheadMs) <= clockToleranceMs
          ? { check: 'clock', result: 'ok', detail: 'agrees with the database' }
          : {
              check: 'clock',
              result: 'warning',
              detail: `the database's clock is ${seconds}. Synchronise both with NTP.`,
            },
      ];
    });
  } catch (error) {
    return [{ check: 'database', result: 'fault', detail: error instanceof Error ? error.message : String(error) }];
  }
}

/** Accounts that are being moved for longer than a move takes: the export or the import did not end, or nobody disabled the account. */
async function stoppedAccounts(sql: Sql): Promise<readonly Finding[]> {
  const rows = await sql<{ id: string; name: string; since: Date }[]>`
    SELECT id, name, moving_at AS since
      FROM accounts
     WHERE moving_at < clock_timestamp() - interval '10 minutes' AND disabled_at IS NULL
     ORDER BY moving_at`;
  return rows.map(({ id, name, since }) => ({
    check: 'moved account',
    result: 'warning',
    detail: `account "${name}" has been stopped since ${since.toISOString()}, because it is being moved. When another installation has it: usher accounts disable ${id}; otherwise: usher accounts enable ${id} --stays.`,
  }));
}

function describeRights({ migrate }: Config, mayCreate: boolean): Finding {
  const check = 'database rights';
  if (mayCreate) return { check, result: 'ok', detail: 'the user may create tables' };
  return migrate === 'off'
    ? { check, result: 'ok', detail: 'the user may not create tables, and need not: USHER_MIGRATE is off' }
    : {
        check,
        result: 'fault',
        detail: 'the user may not create tables. Grant CREATE on its schema, or set USHER_MIGRATE=off.',
      };
}

export function describeTransaction(oldest: OldTransaction | null): Finding {
  const check = 'transactions';
  if (oldest === null || (oldest.seconds ?? 0) < longTransactionSec)
    return { check, result: 'ok', detail: 'no write transaction has been open for long' };
  const { pid, database: name, user, state } = oldest;
  const age = `${Math.round((oldest.seconds ?? 0) / 60)} minutes`;
  return {
    check,
    result: 'warning',
    detail:
      pid === null
        ? `the prepared transaction '${oldest.name}' of ${user} in the database "${name}" has been open for ${age}, and slows everything down. In that database: ROLLBACK PREPARED '${oldest.name}'.`
        : `session ${pid} of ${user} (application "${oldest.name}", database "${name}", ${state}) has had a write transaction open for ${age}, and slows everything down. To end it: SELECT pg_terminate_backend(${pid}). idle_in_transaction_session_timeout ends such sessions by itself.`,
  };
}

async function services(config: Config): Promise<readonly Finding[]> {
  const { publicUrl, apns, ice, files } = config;
  const reach = async (check: string, url: string, setting: string): Promise<Finding> => {
    const fault = await answers(url);
    return fault === null
      ? { check, result: 'ok', detail: `${new URL(url).origin} answers` }
      : { check, result: 'warning', detail: `${new URL(url).origin} does not answer (${fault}). Check ${setting}.` };
  };
  return [
    ...(publicUrl === '' ? [] : [await reach('public URL', `${publicUrl}/healthz`, 'USHER_PUBLIC_URL and the proxy')]),
    ...(await Promise.all(
      carrierAddresses(config).map(async ({ url, setting }) => reach('SMS carrier', url, setting)),
    )),
    ...(files.kind === 's3' ? [await bucketOf(files)] : []),
    ...(apns === null
      ? []
      : [{ check: 'Apple push key', result: 'ok', detail: `readable, id ${apns.keyId}` } as const]),
    ...(await Promise.all(ice.urls.map(iceServer))),
  ];
}

async function bucketOf(bucket: Bucket): Promise<Finding> {
  const fault = await faultOfBucket(bucket);
  const check = 'bucket';
  const name = bucketName(bucket);
  return fault === null
    ? { check, result: 'ok', detail: `${name} can be read, written and listed` }
    : { check, result: 'fault', detail: `${name} cannot be used (${fault}). Check USHER_FILES and the credentials.` };
}

/** `null` if the server answers, whatever it says; otherwise why not. */
async function answers(url: string): Promise<string | null> {
  try {
    await (await fetch(url, { signal: AbortSignal.timeout(timeoutMs), redirect: 'manual' })).arrayBuffer();
    return null;
  } catch (error) {
    return codeOf(error instanceof Error ? (error.cause ?? error) : error);
  }
}

/** `turns:turn.example.com:443?transport=tcp`. Over UDP a server need not answer, so only its name is looked up. */
async function iceServer(url: string): Promise<Finding> {
  const [, scheme = '', host = '', given] = /^(stuns?|turns?):(\[[^\]]+\]|[^:?]+)(?::(\d+))?/.exec(url) ?? [];
  const check = `${scheme} server`;
  const name = host.replace(/^\[(.*)\]$/, '$1');
  try {
    await lookup(name);
    const isTcp = scheme.endsWith('s') || url.includes('transport=tcp');
    if (isTcp) await connects(name, Number(given ?? (scheme.endsWith('s') ? 5_349 : 3_478)));
    return { check, result: 'ok', detail: isTcp ? `${host} accepts connections` : `${host} has an address` };
  } catch (error) {
    return {
      check,
      result: 'warning',
      detail: `${host} cannot be reached (${codeOf(error)}). Check USHER_ICE_SERVERS.`,
    };
  }
}

async function connects(host: string, number: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: number, timeout: timeoutMs }, () => {
      socket.destroy();
      resolve();
    });
    socket.once('error', reject);
    socket.once('timeout', () => socket.destroy(Object.assign(new Error('timed out'), { code: 'ETIMEDOUT' })));
  });
}

function codeOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return error instanceof Error ? error.message : String(error);
}
