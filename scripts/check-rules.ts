import { globSync, readFileSync } from 'node:fs';

/**
 * Code and tests cite the rules of docs/rules.md by number. A number that is not defined there misleads its reader, and a rule that
 * neither code nor a test cites is a promise that nobody keeps.
 */
const rulesFile = 'docs/rules.md';
const citation = /\bD[1-9](?:\.\d+)?\b/g;

const defined = new Set<string>();
for (const [, section = '', rule = ''] of readFileSync(rulesFile, 'utf8').matchAll(
  /^## (D\d+)|^- \*\*(D\d+\.\d+)\*\*/gm,
))
  defined.add(section || rule);

const files = globSync(['{packages,test,bench,scripts,docs}/**/*.{ts,tsx,sql,css,md}', '*.md'], {
  exclude: (path) => /(?:^|\/)(?:node_modules|dist)(?:\/|$)/.test(path),
});
const cited = new Map<string, string>();
const complaints: string[] = [];
for (const file of files) {
  if (file === rulesFile) continue;
  for (const [rule] of readFileSync(file, 'utf8').matchAll(citation)) {
    if (!defined.has(rule)) complaints.push(`${file} cites ${rule}, which ${rulesFile} does not define.`);
    if (!file.endsWith('.md')) cited.set(rule, file);
  }
}
for (const rule of defined)
  if (rule.includes('.') && !cited.has(rule)) complaints.push(`${rulesFile}: neither code nor a test cites ${rule}.`);

for (const complaint of complaints) console.error(complaint);
process.exitCode = complaints.length === 0 ? 0 : 1;
