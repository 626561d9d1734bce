import { globSync, readFileSync } from 'node:fs';

/**
 * Code and tests cite the rules of docs/rules.md by number. This check fails if a cited number is not defined there, or if
 * neither code nor a test cites a defined rule.
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
const problems: string[] = [];
for (const file of files) {
  if (file === rulesFile) continue;
  for (const [rule] of readFileSync(file, 'utf8').matchAll(citation)) {
    if (!defined.has(rule)) problems.push(`${file} cites ${rule}, which ${rulesFile} does not define.`);
    if (!file.endsWith('.md')) cited.set(rule, file);
  }
}
for (const rule of defined)
  if (rule.includes('.') && !cited.has(rule)) problems.push(`${rulesFile}: neither code nor a test cites ${rule}.`);

for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
