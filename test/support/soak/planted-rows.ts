import { randomUUID } from 'node:crypto';
import type { Sql } from '../../../packages/server/src/platform/database/database.ts';

/** Rows whose time has come are deleted by a sweep. The others must remain, because their time has not come when the run ends. */
interface PlantedKind {
  readonly sweep: string;
  readonly table: string;
  /** The column that identifies the row, as text in `keyOf`. */
  readonly key: string;
  /** What decides: the age at which rows are deleted, as an interval. A time in the future has a negative age. */
  readonly deletedAfter: string;
  /** Values of the columns, as SQL. `$key` is the key of the row, `$at` its time, and `$account` and others are ids of the world. */
  readonly values: Readonly<Record<string, string>>;
  /** What a sweep leaves of the row; without it the row is deleted. */
  readonly sweptWhere?: string;
}

const bytes = "decode(md5('$key'), 'hex')";
const ofOperator = { account_id: "'$account'", operator_id: "'$operator'" };
const month = '31 days';

const kinds: readonly PlantedKind[] = [
  {
    sweep: 'drop_idempotency_keys',
    table: 'idempotency_keys',
    key: 'caller',
    deletedAfter: '24 hours',
    values: { account_id: "'$account'", key_hash: bytes, request_hash: bytes, created_at: '$at' },
  },
  {
    sweep: 'drop_revocations',
    table: 'revoked_tokens',
    key: 'id',
    deletedAfter: '1 day',
    values: { account_id: "'$account'", expires_at: '$at' },
  },
  {
    sweep: 'drop_sign_ins',
    table: 'operator_sessions',
    key: 'id',
    deletedAfter: '0',
    values: { ...ofOperator, signed_in_with: "'link'", secret_digest: bytes, user_agent: "''", expires_at: '$at' },
  },
  {
    sweep: 'drop_sign_ins',
    table: 'sign_in_links',
    key: "encode(secret_digest, 'escape')",
    deletedAfter: '0',
    values: { ...ofOperator, secret_digest: "decode('$key', 'escape')", expires_at: '$at' },
  },
  {
    sweep: 'drop_sign_ins',
    table: 'known_devices',
    key: "encode(secret_digest, 'escape')",
    deletedAfter: '0',
    values: { ...ofOperator, secret_digest: "decode('$key', 'escape')", expires_at: '$at' },
  },
  {
    sweep: 'drop_sign_ins',
    table: 'operator_access_tokens',
    key: 'id',
    deletedAfter: '0',
    values: { ...ofOperator, name: "'Old'", secret_digest: bytes, expires_at: '$at' },
  },
  {
    sweep: 'drop_visitors',
    table: 'visitors',
    key: 'id',
    deletedAfter: '48 hours',
    values: { account_id: "'$account'", site_id: "'$site'", token_issued_at: '$at' },
  },
  {
    sweep: 'drop_event_secrets',
    table: 'event_secrets',
    key: 'event_id',
    deletedAfter: '0',
    values: { account_id: "'$account'", sealed: bytes, expires_at: '$at' },
  },
  {
    sweep: 'drop_board_moves',
    table: 'board_moves',
    key: 'account_id',
    deletedAfter: '1 hour',
    values: { version: '1', things: "'{}'", moved_at: '$at' },
  },
  {
    sweep: 'drop_presence_intervals',
    table: 'presence_intervals',
    key: 'operator_id',
    deletedAfter: '400 days',
    values: {
      account_id: "'$account'",
      engaged: 'false',
      available: 'true',
      media: "'{text}'",
      site_ids: "'{}'",
      team_ids: "'{}'",
      started_at: '$at',
      ended_at: '$at',
    },
  },
  {
    sweep: 'drop_authentications',
    table: 'visitor_authentication_requests',
    key: 'id',
    deletedAfter: '7 days',
    values: {
      account_id: "'$account'",
      site_id: "'$site'",
      visitor_id: 'gen_random_uuid()',
      provider_id: 'gen_random_uuid()',
      state: "'failed'",
      fail_reason: "'timeout'",
      created_at: '$at',
    },
  },
  {
    sweep: 'drop_authentications',
    table: 'used_id_tokens',
    key: "encode(token_hash, 'escape')",
    deletedAfter: '48 hours',
    values: { account_id: "'$account'", token_hash: "decode('$key', 'escape')", used_at: '$at' },
  },
  {
    sweep: 'drop_webhooks_and_logs',
    table: 'deliveries',
    key: 'id',
    deletedAfter: month,
    values: {
      account_id: "'$account'",
      webhook_id: "'$nowhere'",
      destination_id: "'$nowhere'",
      event_id: 'gen_random_uuid()',
      event_seq: '1',
      event_xid: "'3'",
      occurred_at: '$at',
      event_type: "'engagement.start'",
      state: "'held'",
    },
  },
  {
    sweep: 'drop_webhooks_and_logs',
    table: 'webhook_recoveries',
    key: 'id',
    deletedAfter: month,
    values: {
      account_id: "'$account'",
      webhook_id: "'$nowhere'",
      state: "'finished'",
      since: '$at',
      finished_at: '$at',
    },
  },
  {
    sweep: 'drop_webhooks_and_logs',
    table: 'destinations',
    key: 'id',
    deletedAfter: '2 days',
    values: { account_id: "'$account'", origin: "'http://$key'", wanted_at: '$at', leased_until: "'-infinity'" },
  },
  {
    sweep: 'remove_deleted_sites',
    table: 'deleted_sites',
    key: 'id',
    deletedAfter: '1 hour',
    values: { account_id: "'$account'", deleted_at: '$at' },
  },
  {
    sweep: 'drop_signing_keys',
    table: 'signing_keys',
    key: 'id',
    deletedAfter: '25 hours',
    values: {
      private_jwk: '(SELECT private_jwk FROM signing_keys WHERE retired_at IS NULL LIMIT 1)',
      retired_at: '$at',
    },
  },
  {
    sweep: 'drop_signing_keys',
    table: 'imported_signing_keys',
    key: 'id',
    deletedAfter: '25 hours',
    values: {
      account_id: "'$account'",
      public_jwk: '(SELECT private_jwk FROM signing_keys WHERE retired_at IS NULL LIMIT 1)',
      imported_at: '$at',
    },
  },
  {
    sweep: 'drop_files',
    table: 'files',
    key: 'id',
    deletedAfter: '0',
    values: {
      account_id: "'$account'",
      engagement_id: "'$nowhere'",
      uploaded_by: "'visitor'",
      uploader_id: 'gen_random_uuid()',
      name: "'old.txt'",
      content_type: "'text/plain'",
      bytes: '1',
      sha256: "sha256('')",
      state: "CASE WHEN $at < now() THEN 'infected' ELSE 'clean' END",
      scan_due_at: 'now()',
      scanned_at: 'now()',
      created_at: 'now()',
    },
    sweptWhere: 'NOT stored',
  },
];

/** The ids that planted rows refer to. */
export interface PlantedWorld {
  readonly account: string;
  readonly site: string;
  readonly operator: string;
}

interface PlantedRow {
  readonly kind: PlantedKind;
  readonly key: string;
  readonly atMs: number;
  readonly isOld: boolean;
}

/** What was planted for a sweep, and what became of it. */
export interface SweepLedger {
  readonly sweep: string;
  readonly table: string;
  /** Rows that the sweep had to delete, and those of them that are still there. */
  readonly old: number;
  readonly oldLeft: number;
  /** Rows that the sweep must not delete, and those of them that are still there. */
  readonly young: number;
  readonly youngLeft: number;
}

/** Plants rows that the sweeps have to delete, and others that they must keep. */
export class PlantedRows {
  readonly #sql: Sql;
  readonly #world: PlantedWorld;
  readonly #hours: number;
  readonly #rows: PlantedRow[] = [];

  constructor(sql: Sql, world: PlantedWorld, hours: number) {
    this.#sql = sql;
    this.#world = world;
    this.#hours = hours;
  }

  /** Plants rows of every kind: `old` are an hour past their time, and the time of the `young` comes long after the run. */
  async plant({ old = 0, young = 0 }: { readonly old?: number; readonly young?: number }): Promise<void> {
    for (const kind of kinds) {
      for (let count = 0; count < old; count += 1) await this.#insert(kind, true);
      for (let count = 0; count < young; count += 1) await this.#insert(kind, false);
    }
  }

  async #insert(kind: PlantedKind, isOld: boolean): Promise<void> {
    const key = randomUUID();
    const at = isOld
      ? `(now() - interval '${kind.deletedAfter}' - interval '1 hour')`
      : `(now() - interval '${kind.deletedAfter}' + interval '${Math.ceil(this.#hours) + 25} hours')`;
    // Ids of deliveries begin with their time.
    const timed = `overlay('${key.replaceAll('-', '')}' placing lpad(to_hex((extract(epoch FROM ${at}) * 1000)::bigint), 12, '0') from 1 for 12)::uuid`;
    const values = Object.entries(kind.values).map(
      ([column, value]) => [column, this.#resolve(value, key, at)] as const,
    );
    const own = /^\w+$/.test(kind.key) ? [[kind.key, kind.table === 'deliveries' ? timed : `'${key}'`] as const] : [];
    const all = [...own, ...values];
    const [row] = await this.#sql.unsafe<{ key: string }[]>(
      `INSERT INTO ${kind.table} (${all.map(([column]) => column).join(', ')})
       VALUES (${all.map(([, value]) => value).join(', ')})
       RETURNING (${kind.key})::text AS key`,
    );
    this.#rows.push({ kind, key: row?.key ?? '', atMs: performance.now(), isOld });
  }

  #resolve(value: string, key: string, at: string): string {
    return value
      .replaceAll('$key', key)
      .replaceAll('$at', at)
      .replaceAll('$account', this.#world.account)
      .replaceAll('$site', this.#world.site)
      .replaceAll('$operator', this.#world.operator)
      .replaceAll('$nowhere', '00000000-0000-4000-8000-000000000000');
  }

  /** What became of the rows that were planted at least `ageMs` ago. */
  async ledger(ageMs = 0): Promise<SweepLedger[]> {
    const before = performance.now() - ageMs;
    const ledgers: SweepLedger[] = [];
    for (const kind of kinds) {
      const rows = this.#rows.filter((row) => row.kind === kind && row.atMs <= before);
      const there = await this.#existing(kind, rows);
      const [old, young] = [rows.filter(({ isOld }) => isOld), rows.filter(({ isOld }) => !isOld)];
      const left = (of: readonly PlantedRow[]): number => of.filter(({ key }) => there.has(key)).length;
      ledgers.push({
        sweep: kind.sweep,
        table: kind.table,
        old: old.length,
        oldLeft: left(old),
        young: young.length,
        youngLeft: left(young),
      });
    }
    return ledgers;
  }

  /** Rows that a sweep should have deleted `ms` ago, by table, the product's own included. */
  async overdue(ms: number): Promise<Record<string, number>> {
    const found: Record<string, number> = {};
    for (const { table, values, deletedAfter, sweptWhere } of kinds) {
      const [column] = Object.entries(values).find(([, value]) => value === '$at') ?? [];
      if (column === undefined || sweptWhere !== undefined) continue;
      const [row] = await this.#sql.unsafe<{ count: number }[]>(
        `SELECT count(*)::integer AS count FROM ${table}
          WHERE ${column} < now() - interval '${deletedAfter}' - interval '${Math.round(ms)} ms'`,
      );
      if (row !== undefined && row.count > 0) found[table] = row.count;
    }
    return found;
  }

  async #existing(
    { table, key, sweptWhere = 'false' }: PlantedKind,
    rows: readonly PlantedRow[],
  ): Promise<Set<string>> {
    const found = await this.#sql.unsafe<{ key: string }[]>(
      `SELECT (${key})::text AS key FROM ${table}
        WHERE (${key})::text = ANY (ARRAY[${rows.map((row) => `'${row.key}'`).join(', ')}]::text[]) AND NOT (${sweptWhere})`,
    );
    return new Set(found.map((row) => row.key));
  }
}

/** The sweeps for which rows are planted. */
export const plantedSweeps: ReadonlySet<string> = new Set(kinds.map(({ sweep }) => sweep));
