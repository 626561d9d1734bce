import type { Before, Outcome } from './harness.ts';
import type { Outcomes } from './results.ts';

/** Columns of text are aligned left, columns of numbers right. */
const textColumns: ReadonlySet<string> = new Set(['measure', 'unit', 'reached']);

/**
 * The medians of an entry as a text table. `before` is what another checkout reached: its ratio, or the value itself where there is no
 * peer.
 */
export function table(outcomes: Outcomes): string {
  const showsBefore = Object.values(outcomes).some(({ before }) => before !== undefined);
  const head = [
    'measure',
    'unit',
    'ours',
    'peer/limit',
    ...(showsBefore ? ['before'] : []),
    'ratio',
    'target',
    'reached',
  ];
  const rows = [head, ...Object.entries(outcomes).map(([name, outcome]) => cells(name, outcome, showsBefore))];
  const widths = head.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) =>
        textColumns.has(head[column] ?? '') ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
  return [lines[0], widths.map((width) => '-'.repeat(width)).join('  '), ...lines.slice(1)].join('\n');
}

function cells(
  name: string,
  { unit, ours, peer, ratio, target, reached, ...outcome }: Outcome,
  showsBefore: boolean,
): string[] {
  const against = peer ?? target;
  const shown = ratio === null ? '' : ratio.toFixed(2);
  const isMaximum = ratio === null || outcome.lowerIsBetter === true;
  const condition = `${isMaximum ? '<=' : '>='} ${ratio === null ? formatNumber(target) : target}`;
  return [
    name,
    unit,
    formatNumber(ours),
    formatNumber(against),
    ...(showsBefore ? [formatBefore(outcome.before)] : []),
    shown,
    condition,
    reached ? 'yes' : 'NO',
  ];
}

function formatBefore(before: Before | undefined): string {
  if (before === undefined) return '';
  return before.ratio === null ? formatNumber(before.ours) : before.ratio.toFixed(2);
}

/** Larger numbers get fewer decimal places. */
function formatNumber(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 2 : value < 100 ? 1 : 0 });
}
