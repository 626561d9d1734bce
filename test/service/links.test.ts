import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';

const pages = [
  ...readdirSync('.'),
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' }).map((file) => join('docs', file)),
].filter((file) => file.endsWith('.md'));

/** The targets of links and images outside code blocks. */
function linksOf(page: string): string[] {
  const prose = readFileSync(page, 'utf8')
    .replaceAll(/^ *```[\s\S]*?^ *```/gm, '')
    .replaceAll(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^()\s]+)\)/g)].map(([, target = '']) => target);
}

/** The anchors that GitHub gives to the headings of a page. */
function anchorsOf(page: string): Set<string> {
  const headings = [...readFileSync(page, 'utf8').matchAll(/^#{1,6} +(.+)$/gm)].map(([, heading = '']) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

/** What is wrong with a link; `null` if it is valid, or leads to another site or to a path of a running server. */
function faultOf(page: string, link: string): string | null {
  if (/^(?:[a-z]+:|\/)/.test(link)) return null;
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? page : normalize(join(dirname(page), path));
  if (!existsSync(target)) return `${page}: ${link} does not exist`;
  if (anchor !== undefined && !anchorsOf(target).has(anchor)) return `${page}: ${link} names no heading of ${target}`;
  return null;
}

test('every relative link in a Markdown file leads to a file, and to one of its headings', () => {
  const links = pages.flatMap((page) => linksOf(page).map((link) => ({ page, link })));
  assert.ok(links.length > 50, 'links are found');
  assert.deepEqual(
    links.map(({ page, link }) => faultOf(page, link)).filter((fault) => fault !== null),
    [],
  );
});

test('every page of the guide is linked from the index', () => {
  const linked = new Set(linksOf('docs/README.md').map((link) => normalize(join('docs', link))));
  const guide = pages.filter((page) => page.startsWith('docs/guide/'));
  assert.deepEqual(
    guide.filter((page) => !linked.has(page)),
    [],
  );
});
