import { globSync, readFileSync } from 'node:fs';

/**
 * Finds the words that docs/writing.md tells us to avoid, in code and in documents. Its table is the only list: a word in lower case is
 * found inside names and texts (`wanted`, `mostWanted`, "what is wanted") but not in names of columns, a phrase as it is, and a capitalised
 * word as the name of a type.
 */
const guide = 'docs/writing.md';
/** Migrations up to this one are released and never edited. */
const lastReleasedMigration = '0031';

const [, table = ''] = readFileSync(guide, 'utf8').split('## Words to avoid');
const words = [...table.matchAll(/^\| (`[^|]*)\|/gm)].flatMap(([, cell = '']) =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word),
);
if (words.length === 0) throw new Error(`${guide} has no table under "Words to avoid".`);

function patternOf(word: string): string {
  if (/^[A-Z]/.test(word)) return String.raw`(?<=\b(?:interface|type|class) )${word}\b`;
  const capitalised = `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
  return String.raw`(?<![A-Za-z_])${word}(?![a-z_])|${capitalised}(?![a-z_])`;
}

const banned = new RegExp(words.map(patternOf).join('|'), 'g');

/** A NOTIFY topic keeps its name, because processes of an older version listen to it. */
const topic = /'told'|told:/g;

const files = globSync(['{packages,test,bench,scripts}/**/*.{ts,tsx,sql,css}', '{bench,docs}/**/*.md', '*.md'], {
  exclude: (path) => /(?:^|\/)(?:node_modules|dist)(?:\/|$)/.test(path),
}).filter((file) => file !== guide);
let found = 0;
for (const file of files) {
  const [, migration] = /\/migrations\/(\d{4})/.exec(file) ?? [];
  if (migration !== undefined && migration <= lastReleasedMigration) continue;
  for (const [index, line] of readFileSync(file, 'utf8').split('\n').entries())
    for (const [word] of line.replaceAll(topic, '').matchAll(banned)) {
      console.error(`${file}:${index + 1} "${word}": see "Words to avoid" in ${guide}`);
      found += 1;
    }
}
process.exitCode = found === 0 ? 0 : 1;
