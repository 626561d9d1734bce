import { exifOf, orientationOf } from './orientation.ts';
import { chunkBytes, maxSegments, type PictureCopy, type PictureSource } from './picture-copy.ts';

const marker = { end: 0xd9, scan: 0xda, app0: 0xe0, app1: 0xe1, app15: 0xef, comment: 0xfe } as const;

/** Application segments that decide how the picture looks, by their marker and first bytes. */
const kept: ReadonlyMap<number, string> = new Map([
  [0xe0, 'JFIF\0'],
  [0xe2, 'ICC_PROFILE\0'],
  [0xee, 'Adobe'],
]);

/** Drops the other application segments (EXIF, XMP, IPTC, thumbnails), comments, and what follows the end of the picture. */
export async function planJpeg(source: PictureSource, copy: PictureCopy): Promise<void> {
  copy.keep(0, 2);
  let at = 2;
  let isTurned = false;
  for (let count = 0; count < maxSegments; count += 1) {
    const head = await source.read(at, 4);
    const [first, code = 0] = head;
    if (first !== 0xff || head.length < 2) break;
    if (code === marker.end) {
      copy.keep(at, at + 2);
      return copy.dropRest(at + 2);
    }
    const end = hasLength(code) ? at + 2 + (head.length < 4 ? 0 : head.readUInt16BE(2)) : at + (code === 0xff ? 1 : 2);
    if (end > source.size || (hasLength(code) && end < at + 4)) break;
    const next = code === marker.scan ? await endOfScan(source, end) : end;
    if (await isKept(source, at, code)) copy.keep(at, next);
    else {
      copy.drop(at, next);
      const exif: Buffer | null = code === marker.app1 && !isTurned ? await source.read(at + 4, end - at - 4) : null;
      const orientation: number | null = exif === null ? null : orientationOf(exif);
      isTurned ||= orientation !== null;
      if (orientation !== null) copy.insert(orientationSegment(orientation));
    }
    at = next;
  }
  copy.keepRest(at);
}

/** Restart markers and TEM stand alone. 0xff fills the space before a marker. */
function hasLength(code: number): boolean {
  return code !== 0x01 && code !== 0xff && !isRestart(code);
}

function isRestart(code: number): boolean {
  return code >= 0xd0 && code <= 0xd7;
}

async function isKept(source: PictureSource, at: number, code: number): Promise<boolean> {
  if (code === marker.comment) return false;
  if (code < marker.app0 || code > marker.app15) return true;
  const name = kept.get(code);
  return name !== undefined && (await source.read(at + 4, name.length)).toString('latin1') === name;
}

/** Where the next marker after the data of a scan begins. In the data, 0xff is followed by 0 or a restart marker. */
async function endOfScan(source: PictureSource, from: number): Promise<number> {
  let isAfterFf = false;
  for (let at = from; at < source.size; at += chunkBytes) {
    const chunk = await source.read(at, chunkBytes);
    for (let index = 0; index < chunk.length; index += 1) {
      const byte = chunk[index] ?? 0;
      if (isAfterFf && byte !== 0 && byte !== 0xff && !isRestart(byte)) return at + index - 1;
      isAfterFf = byte === 0xff;
    }
  }
  return source.size;
}

function orientationSegment(orientation: number): Buffer {
  const content = Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), exifOf(orientation)]);
  const head = Buffer.from([0xff, marker.app1, 0, 0]);
  head.writeUInt16BE(content.length + 2, 2);
  return Buffer.concat([head, content]);
}
