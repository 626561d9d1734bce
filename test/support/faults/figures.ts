import { availableParallelism, cpus, totalmem } from 'node:os';
import { readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';

/** What the page shows about a fault. */
export interface FaultFigures {
  readonly name: string;
  readonly times: number;
  readonly acknowledged: number;
  readonly lost: number;
  readonly outOfOrder: number;
  readonly repeated: number;
  readonly longestStopMs: number;
  /** Repeats what the fault chose at random. */
  readonly seed: number;
}

/** A fault that has not been run yet. */
const notRun = { times: 0, acknowledged: 0, lost: 0, outOfOrder: 0, repeated: 0, longestStopMs: 0, seed: 0 };

interface FaultCampaign {
  readonly postgres: string;
  readonly figures: readonly FaultFigures[];
}

const faultsPage = 'docs/guide/faults.md';
/** The figures are between these lines; everything else on the page is written by hand. */
const [begin, end] = ['<!-- Written by npm run prove -- faults -->', '<!-- End of the figures -->'];

interface Page {
  readonly before: string;
  readonly figures: string;
  readonly after: string;
}

function readPage(): Page {
  const [before = '', rest] = readFileSync(faultsPage, 'utf8').split(begin);
  const [figures, after] = rest?.split(end) ?? [];
  if (figures === undefined || after === undefined) throw new Error(`${faultsPage} has no place for the figures`);
  return { before, figures, after };
}

/** Replaces the figures of these faults on the page, in the order of `names`. Faults that were not run keep theirs. */
export async function writeFigures(campaign: FaultCampaign, names: readonly string[]): Promise<void> {
  const { before, figures: table, after } = readPage();
  const all = [...campaign.figures, ...figuresIn(table)];
  const figures = names.map((name) => all.find((each) => each.name === name) ?? { ...notRun, name });
  const text = `${before}${begin}\n\n${describe({ ...campaign, figures })}\n\n${end}${after}`;
  writeFileSync(faultsPage, await format(text, { ...(await resolveConfig(faultsPage)), parser: 'markdown' }));
}

function describe({ postgres, figures }: FaultCampaign): string {
  const count = (of: (figures: FaultFigures) => number): string =>
    figures.reduce((sum, each) => sum + of(each), 0).toLocaleString('en');
  const rows = figures.map((each) => [`[${each.name}](#${anchorOf(each.name)})`, ...cellsOf(each)]);
  const longest = Math.max(...figures.map(({ longestStopMs }) => longestStopMs));
  const all = [
    '**All**',
    count(({ times }) => times),
    count(({ acknowledged }) => acknowledged),
    count(({ lost }) => lost),
    count(({ outOfOrder }) => outOfOrder),
    count(({ repeated }) => repeated),
    `${(longest / 1_000).toFixed(1)} s`,
    '',
  ];
  const head = ['fault', 'times', 'acknowledged', 'lost', 'out of order', 'repeated', 'longest stop', 'seed'];
  const ruler = head.map((_, index) => (index === 0 ? '---' : '--:'));
  const table = [head, ruler, ...rows, all].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
  const gigabytes = Math.round(totalmem() / 2 ** 30);
  const machine = `${availableParallelism()} processors (${cpus()[0]?.model ?? 'unknown'}), ${gigabytes} GB of memory`;
  const day = new Date().toISOString().slice(0, 10);
  const versions = `Node ${process.versions.node}, PostgreSQL ${postgres}`;
  return `${table}\n\nMeasured by \`npm run prove -- faults\`, last on ${day}, on ${machine}, with ${versions}.`;
}

function cellsOf({ times, acknowledged, lost, outOfOrder, repeated, longestStopMs, seed }: FaultFigures): string[] {
  if (times === 0) return ['0', '', '', '', '', '', ''];
  const counts = [times, acknowledged, lost, outOfOrder, repeated].map((count) => count.toLocaleString('en'));
  return [...counts, `${(longestStopMs / 1_000).toFixed(1)} s`, String(seed)];
}

/** The anchor that GitHub gives to a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** The figures in the table, as `describe` writes them. */
function figuresIn(table: string): FaultFigures[] {
  return [...table.matchAll(/^\| \[([^\]]+)\]\S* *\|(.*)\|$/gm)].map(([, name = '', cells = '']) => {
    const numbers = cells.split('|').map((cell) => Number.parseFloat(cell.replaceAll(',', '')) || 0);
    const [times = 0, acknowledged = 0, lost = 0, outOfOrder = 0, repeated = 0, longestStopSec = 0, seed = 0] = numbers;
    return { name, times, acknowledged, lost, outOfOrder, repeated, longestStopMs: longestStopSec * 1_000, seed };
  });
}

/** The faults in the table and in the headings of the page. */
export function faultsOnPage(): { readonly table: string[]; readonly headings: string[] } {
  const { figures, after } = readPage();
  return {
    table: figuresIn(figures).map(({ name }) => name),
    headings: [...after.matchAll(/^## (.+)$/gm)].map(([, name = '']) => name),
  };
}
