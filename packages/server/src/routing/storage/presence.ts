import type { SqlFragment, Sql } from '../../platform/database/database.ts';
import type { Changes } from '../board/structures/changes.ts';
import { mediaList } from '../board/structures/media.ts';
import type { Operator } from '../board/structures/state.ts';
import { columnsOf } from './columns.ts';

/** The presence of operators is stored in `operators`, whose other columns belong to identity, and its history by `keep_presence`. */
const presenceColumns = columnsOf<{ readonly operator: Operator; readonly reason: string | null }>()({
  immutable: { id: ['uuid', ({ operator }) => operator.settings.id] },
  mutable: {
    available: ['boolean', ({ operator }) => operator.settings.available],
    media: ['text[]', ({ operator }) => mediaList(operator.settings.media)],
    presence_expires_at: ['timestamptz', ({ operator }) => operator.settings.leaseUntil],
    presence_reason: ['text', ({ reason }) => reason],
  },
});

const leaseColumns = columnsOf<Operator>()({
  immutable: { id: ['uuid', ({ settings }) => settings.id] },
  mutable: { presence_expires_at: ['timestamptz', ({ settings }) => settings.leaseUntil] },
});

/** The CTE that writes the presence of operators. */
export function writePresences(sql: Sql, { presences }: Changes): SqlFragment {
  return sql`
         presences AS (
           UPDATE operators o SET presence_set_at = turn.at, ${presenceColumns.assignments(sql)}
             FROM turn, ${presenceColumns.updated(sql, presences.values())}
            WHERE o.id = r.id)`;
}

/** The CTE that writes the renewed leases of operators, if there are any. */
export function writeRenewals(sql: Sql, { renewals, presences }: Changes): SqlFragment {
  const renewed = [...renewals].filter(({ settings }) => !presences.has(settings.id));
  if (renewed.length === 0) return sql``;
  return sql`
         renewals AS (
           UPDATE operators o SET ${leaseColumns.assignments(sql)}
             FROM ${leaseColumns.updated(sql, renewed)}
            WHERE o.id = r.id),`;
}

const stateColumns = columnsOf<readonly [Operator, number | null]>()({
  immutable: {
    operator_id: ['uuid', ([operator]) => operator.settings.id],
    engaged: ['boolean', ([operator]) => operator.engagements.length > 0],
    lapsed_at: ['timestamptz', ([, lapsedAt]) => lapsedAt],
  },
  mutable: {},
});

/** Ends the presence intervals of operators whose state has changed, and begins the next. Call it after their presence is written. */
export async function keepPresence(sql: Sql, { states }: Changes, at: Date): Promise<void> {
  await sql`SELECT keep_presence(${at}, ${stateColumns.json(states)}::text::json)`;
}
