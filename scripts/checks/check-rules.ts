import { globSync, readFileSync } from 'node:fs';

/**
 * Code, tests and documents cite the rules of docs/rules.md and the pages of docs/decisions by number. This check fails if a cited
 * number does not exist, if neither code nor a test cites a rule, or if a decision page does not have the form of all pages.
 */
const rulesFile = 'docs/rules.md';
const citation = /\bD[1-9]\d?(?:\.\d+)?\b/g;
const decisionsFolder = 'docs/decisions';
const maxDecisionLines = 40;

const defined = new Set<string>();
for (const [, section = '', rule = ''] of readFileSync(rulesFile, 'utf8').matchAll(
  /^## (D\d+)|^- \*\*(D\d+\.\d+)\*\*/gm,
))
  defined.add(section || rule);

const files = globSync(['{packages,test,bench,scripts,docs}/**/*.{ts,tsx,sql,css,md}', '*.md'], {
  exclude: (path) => /(?:^|\/)(?:node_modules|dist)(?:\/|$)/.test(path),
});
const cited = new Map<string, string>();
const problems: string[] = [];

const pages = new Map(
  globSync(`${decisionsFolder}/0*.md`).map((path) => [
    Number(path.slice(decisionsFolder.length + 1).split('-')[0]),
    path,
  ]),
);
const index = readFileSync(`${decisionsFolder}/README.md`, 'utf8');
for (const [number, page] of pages) {
  const lines = readFileSync(page, 'utf8').trimEnd().split('\n');
  if (!lines[0]?.startsWith(`# ${number}. `)) problems.push(`${page} must begin with "# ${number}. " and its title.`);
  if (!/^Status: (?:accepted|replaced by \[.+\]\(.+\))$/.test(lines[2] ?? ''))
    problems.push(`${page} must have "Status: accepted" or "Status: replaced by [decision …](…)" in line 3.`);
  if (lines.length > maxDecisionLines)
    problems.push(
      `${page} has ${lines.length} lines; at most ${maxDecisionLines} are allowed. Measurements belong to bench/JOURNAL.md.`,
    );
  if (!index.includes(`(${page.slice(decisionsFolder.length + 1)})`))
    problems.push(`${decisionsFolder}/README.md does not list ${page}.`);
}

/** The numbers of the decisions that a text cites: "decision 12", "decisions 12 and 14", "docs/decisions/0012-…". */
function citedDecisions(text: string): number[] {
  const inSentences = [...text.matchAll(/\bdecisions?\s+(\d+(?:(?:,| and)\s+\d+)*)/gi)];
  const inPaths = [...text.matchAll(/\bdecisions\/(\d{4})\b/g)];
  return [...inSentences, ...inPaths].flatMap(([, numbers = '']) => numbers.match(/\d+/g)?.map(Number) ?? []);
}

for (const file of files) {
  const text = readFileSync(file, 'utf8');
  for (const number of citedDecisions(text))
    if (!pages.has(number)) problems.push(`${file} cites decision ${number}, which does not exist.`);
  for (const [link, shown, target] of text.matchAll(/\[(?:decision )?(\d+)\]\((?:[\w./-]*\/)?(\d{4})-[^)]*\)/g))
    if (Number(shown) !== Number(target)) problems.push(`${file}: "${link}" names one decision and links to another.`);
  if (file === rulesFile) continue;
  for (const [rule] of text.matchAll(citation)) {
    if (!defined.has(rule)) problems.push(`${file} cites ${rule}, which ${rulesFile} does not define.`);
    if (!file.endsWith('.md')) cited.set(rule, file);
  }
}
for (const rule of defined)
  if (rule.includes('.') && !cited.has(rule)) problems.push(`${rulesFile}: neither code nor a test cites ${rule}.`);

for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
