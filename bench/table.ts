import type { Outcome } from './harness.ts';
import type { Outcomes } from './results.ts';

const head = ['measure', 'unit', 'ours', 'peer/limit', 'ratio', 'target', 'reached'];
/** Columns of text are aligned left, columns of numbers right. */
const textColumns = new Set([0, 1, 6]);

/** The medians of an entry as a text table. */
export function table(outcomes: Outcomes): string {
  const rows = [head, ...Object.entries(outcomes).map(([name, outcome]) => cells(name, outcome))];
  const widths = head.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) =>
        textColumns.has(column) ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
  return [lines[0], widths.map((width) => '-'.repeat(width)).join('  '), ...lines.slice(1)].join('\n');
}

function cells(name: string, { unit, ours, peer, ratio, target, reached, ...outcome }: Outcome): string[] {
  const against = peer ?? target;
  const shown = ratio === null ? '' : ratio.toFixed(2);
  const isMaximum = ratio === null || outcome.lowerIsBetter === true;
  const condition = `${isMaximum ? '<=' : '>='} ${ratio === null ? formatNumber(target) : target}`;
  return [name, unit, formatNumber(ours), formatNumber(against), shown, condition, reached ? 'yes' : 'NO'];
}

/** Larger numbers get fewer decimal places. */
function formatNumber(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 2 : value < 100 ? 1 : 0 });
}
