import type { Sql } from '../../../packages/server/src/platform/database/database.ts';

interface PlanNode {
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Join Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

type Explained = Promise<{ 'QUERY PLAN': [{ Plan: PlanNode }] }[]>;

/** The rows that all steps of the statement's plan have looked at while it was executed. `run` executes one statement, a WITH. */
export async function plannedRows(sql: Sql, run: (explaining: Sql) => Promise<unknown>): Promise<number> {
  const statements: Explained[] = [];
  const tag = (strings: readonly string[], ...values: unknown[]): unknown => {
    const [first = '', ...rest] = strings;
    if (!/^\s*WITH\b/.test(first)) return Reflect.apply(sql, null, [strings, ...values]);
    const texts = [`EXPLAIN (ANALYZE, FORMAT json) ${first}`, ...rest];
    const explained: Explained = Reflect.apply(sql, null, [Object.assign(texts, { raw: texts }), ...values]);
    statements.push(explained);
    return explained;
  };
  await run(Object.assign(tag, sql));
  const [row] = (await statements[0]) ?? [];
  if (row === undefined) throw new Error('no statement with WITH was executed');
  return rowsOf(row['QUERY PLAN'][0].Plan);
}

function rowsOf(node: PlanNode): number {
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Join Filter'] ?? 0);
  const below = (node.Plans ?? []).reduce((sum, child) => sum + rowsOf(child), 0);
  return (node['Actual Rows'] + removed) * node['Actual Loops'] + below;
}
