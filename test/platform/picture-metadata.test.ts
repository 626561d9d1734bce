import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  chunkBytes,
  maxSegments,
  sourceOfBuffer,
  sourceOfFile,
} from '../../packages/server/src/platform/pictures/picture-copy.ts';
import { withoutMetadata } from '../../packages/server/src/platform/pictures/without-metadata.ts';
import * as made from '../support/people/picture-metadata.ts';

/** The picture without metadata; the same bytes if there is none. */
async function cleaned(type: string, picture: Buffer): Promise<Buffer> {
  const copy = await withoutMetadata(sourceOfBuffer(picture), type);
  if (copy === null) return picture;
  const bytes = await buffer(copy.bytes());
  assert.equal(bytes.length, copy.size);
  return bytes;
}

const exifSegment = (orientation: number): Buffer =>
  made.segment(0xe1, Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), made.turned(orientation)]));

const kinds: Readonly<Record<string, { make: typeof made.jpeg; kept: (orientation: number) => Buffer }>> = {
  'image/jpeg': { make: made.jpeg, kept: exifSegment },
  'image/png': { make: made.png, kept: (orientation) => made.chunk('eXIf', made.turned(orientation)) },
  'image/webp': { make: made.webp, kept: (orientation) => made.riffChunk('EXIF', made.turned(orientation)) },
};

for (const [type, { make, kept }] of Object.entries(kinds)) {
  test(`${type}: everything but the picture and its orientation is removed`, async () => {
    const none = Buffer.alloc(0);
    for (const orientation of [2, 6, 8]) {
      const { dirty, clean } = make(orientation, kept(orientation));
      const bytes = await cleaned(type, dirty);
      assert.deepEqual(bytes, clean);
      assert.ok(!bytes.includes(made.secret));
      assert.deepEqual(await cleaned(type, bytes), bytes, 'a cleaned picture stays as it is');
    }
    // 1 is upright, and 9 means nothing.
    for (const orientation of [1, 9]) {
      const { dirty, clean } = make(orientation, none);
      assert.deepEqual(await cleaned(type, dirty), clean);
    }
    const { clean } = make(1, none);
    assert.equal(await withoutMetadata(sourceOfBuffer(clean), type), null, 'nothing is written again');
  });

  test(`${type}: a picture that ends early or is damaged loses nothing but metadata`, async () => {
    const { dirty, clean } = make(6, kept(6));
    for (let length = 0; length < dirty.length; length += 1) {
      const bytes = await cleaned(type, dirty.subarray(0, length));
      assert.ok(bytes.length <= length + 64);
      if (dirty.subarray(0, length).includes('pixels')) assert.ok(bytes.includes('pixels'), `${length} bytes`);
      // From the damage on, the bytes are the same. The header of a WebP has another size.
      const shared = sharedStart(bytes, clean);
      assert.ok(type === 'image/webp' || dirty.subarray(0, length).includes(bytes.subarray(shared)), `${length} bytes`);
    }
    await fc.assert(
      fc.asyncProperty(fc.nat(dirty.length - 1), fc.nat(255), async (at, byte) => {
        const damaged = Buffer.from(dirty);
        damaged[at] = byte;
        const bytes = await cleaned(type, damaged);
        assert.ok(bytes.length <= damaged.length + 64);
      }),
    );
  });

  test(`${type}: any bytes after the signature are read to their end`, async () => {
    const { clean } = make(1, Buffer.alloc(0));
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (noise) => {
        const bytes = Buffer.concat([clean.subarray(0, 12), noise]);
        assert.ok((await cleaned(type, bytes)).length <= bytes.length + 64);
      }),
    );
  });
}

function sharedStart(one: Buffer, other: Buffer): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}

test('a large picture is read from its file in chunks, also where a marker lies across two of them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'usher-picture-'));
  try {
    const { dirty, clean } = made.jpeg(6, exifSegment(6));
    const scan = Buffer.alloc(3 * chunkBytes, 'x');
    // The scan data ends anywhere around the border of a chunk.
    for (let extra = -3; extra <= 3; extra += 1) {
      const [before, after] = [dirty, clean].map((picture) => {
        const end = picture.lastIndexOf(made.jpegEnd);
        const fill = scan.subarray(0, 2 * chunkBytes - (end % chunkBytes) + extra);
        return Buffer.concat([picture.subarray(0, end), fill, picture.subarray(end)]);
      });
      const path = join(folder, String(extra));
      writeFileSync(path, before ?? '');
      await using file = await open(path);
      const copy = await withoutMetadata(sourceOfFile(file, before?.length ?? 0), 'image/jpeg');
      assert.ok(copy !== null);
      const bytes = await buffer(copy.bytes());
      const fill = (picture: Buffer): string => picture.toString('latin1').replace(/x{999,}/, '(fill)');
      assert.equal(fill(bytes), fill(after ?? Buffer.alloc(0)));
      assert.equal(bytes.length, (before?.length ?? 0) - (dirty.length - clean.length));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a file that consists of tiny segments is copied from some point on, instead of being kept in pieces', async () => {
  const tiny = Buffer.concat([made.segment(0xfe, ''), made.segment(0xdb, '')]);
  const picture = Buffer.concat([Buffer.from([0xff, 0xd8]), ...Array.from({ length: maxSegments }, () => tiny)]);
  const bytes = await cleaned('image/jpeg', picture);
  // Half of the segments that were looked at were comments of 4 bytes.
  assert.equal(bytes.length, picture.length - (maxSegments / 2) * 4);
});
