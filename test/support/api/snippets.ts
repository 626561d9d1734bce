import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A block of code in a page of the documentation. */
export interface Snippet {
  readonly page: string;
  /** The line of the page on which the block begins. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
}

const pages = [
  'README.md',
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => join('docs', file)),
];

/** All blocks of code in the documentation. A block in a list is indented. */
export function snippets(): Snippet[] {
  return pages.flatMap((page) => {
    const text = readFileSync(page, 'utf8');
    return [...text.matchAll(/^( *)```(\w+)\n([\s\S]*?)^ *```$/gm)].map(
      ({ 1: indent = '', 2: language = '', 3: code = '', index }) => ({
        page,
        line: text.slice(0, index).split('\n').length,
        language,
        text: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
      }),
    );
  });
}
