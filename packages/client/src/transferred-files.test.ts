import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pastedFiles } from './transferred-files.ts';

const picture = new File(['x'], 'image.png', { type: 'image/png' });
const paste = (...types: string[]) => pastedFiles({ types, files: [picture] });

test('a pasted picture or file is pasted as a file, spreadsheet cells as text', () => {
  assert.deepEqual(paste('Files'), [picture]);
  assert.deepEqual(paste('text/html', 'Files'), [picture], 'a picture of a page');
  assert.deepEqual(paste('text/plain', 'Files'), [picture], 'a file of a folder, with its name');
  assert.deepEqual(paste('text/plain', 'text/html', 'Files'), [], 'cells');
});
