import type { Outcome } from './harness.ts';
import type { Outcomes } from './results.ts';

const head = ['measure', 'unit', 'ours', 'peer/limit', 'ratio', 'target', 'reached'];
/** The columns of words stand left, those of numbers right. */
const wordColumns = new Set([0, 1, 6]);

/** The medians of an entry, for a reader. */
export function table(outcomes: Outcomes): string {
  const rows = [head, ...Object.entries(outcomes).map(([name, outcome]) => cells(name, outcome))];
  const widths = head.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) =>
        wordColumns.has(column) ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
  return [lines[0], widths.map((width) => '-'.repeat(width)).join('  '), ...lines.slice(1)].join('\n');
}

function cells(name: string, { unit, ours, peer, ratio, target, reached }: Outcome): string[] {
  const against = peer ?? target;
  const shown = ratio === null ? '' : ratio.toFixed(2);
  const wanted = ratio === null ? `<= ${number(target)}` : `>= ${target}`;
  return [name, unit, number(ours), number(against), shown, wanted, reached ? 'yes' : 'NO'];
}

/** Whole where a fraction would say nothing. */
function number(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 2 : value < 100 ? 1 : 0 });
}
