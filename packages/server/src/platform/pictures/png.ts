import { crc32 } from 'node:zlib';
import { exifOf, maxExifBytes, orientationOf } from './orientation.ts';
import { maxSegments, type PictureCopy, type PictureSource } from './picture-copy.ts';

/** Chunks that decide how the picture looks, besides the critical ones, whose names begin with a capital letter; and animations. */
const kept = new Set(
  'tRNS gAMA cHRM sRGB iCCP cICP mDCV cLLI sBIT bKGD hIST pHYs sPLT acTL fcTL fdAT'.split(' ') as readonly string[],
);

/** Drops all other chunks (EXIF, texts, times), and what follows the end of the picture. */
export async function planPng(source: PictureSource, copy: PictureCopy): Promise<void> {
  copy.keep(0, 8);
  let at = 8;
  for (let count = 0; count < maxSegments; count += 1) {
    const head = await source.read(at, 8);
    if (head.length < 8) break;
    const length = head.readUInt32BE(0);
    const type = head.toString('latin1', 4, 8);
    const end = at + 12 + length;
    if (!/^[A-Za-z]{4}$/.test(type) || end > source.size) break;
    if (/^[A-Z]/.test(type) || kept.has(type)) copy.keep(at, end);
    else copy.drop(at, end);
    if (type === 'eXIf') {
      const orientation = orientationOf(await source.read(at + 8, Math.min(length, maxExifBytes)));
      if (orientation !== null) copy.insert(chunk('eXIf', exifOf(orientation)));
    }
    if (type === 'IEND') return copy.dropRest(end);
    at = end;
  }
  copy.keepRest(at);
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}
