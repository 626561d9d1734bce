import { exifOf, maxExifBytes, orientationOf } from './orientation.ts';
import { maxSegments, type PictureCopy, type PictureSource } from './picture-copy.ts';

/** Chunks of pixels, transparency, animation and colours. */
const kept = new Set(['VP8 ', 'VP8L', 'ALPH', 'ANIM', 'ANMF', 'ICCP'] as readonly string[]);
const flag = { xmp: 0x04, exif: 0x08 } as const;
const featureBytes = 18;

/** Drops all other chunks (EXIF, XMP), and what follows the end of the picture. The size and the features in the header are corrected. */
export async function planWebp(source: PictureSource, copy: PictureCopy): Promise<void> {
  const header = Buffer.from(await source.read(0, 12));
  const fileEnd = header.length < 12 ? 0 : header.readUInt32LE(4) + 8;
  // There is no chunk, by the size in the header.
  if (fileEnd < 20) return copy.keepRest(0);
  const riffEnd = Math.min(fileEnd, source.size);
  copy.insert(header);
  let features: Buffer | null = null;
  let at = 12;
  for (let count = 0; count < maxSegments && at < riffEnd; count += 1) {
    const head = await source.read(at, 8);
    const length = head.length < 8 ? 0 : head.readUInt32LE(4);
    const type = head.toString('latin1', 0, 4);
    if (head.length < 8 || at + 8 + length > riffEnd) break;
    // Chunks begin at even positions; the last one may lack its padding.
    const end = Math.min(at + 8 + length + (length % 2), riffEnd);
    if (type === 'VP8X' && end - at === featureBytes) {
      features = Buffer.from(await source.read(at, featureBytes));
      features[8] = (features[8] ?? 0) & ~(flag.exif | flag.xmp);
      copy.insert(features);
    } else if (kept.has(type)) copy.keep(at, end);
    else copy.drop(at, end);
    if (type === 'EXIF') {
      const orientation = orientationOf(await source.read(at + 8, Math.min(length, maxExifBytes)));
      if (orientation !== null && features !== null) {
        features[8] = (features[8] ?? 0) | flag.exif;
        copy.insert(exifChunk(orientation));
      }
    }
    at = end;
  }
  const isWhole = at >= riffEnd;
  if (isWhole) copy.dropRest(riffEnd);
  else copy.keepRest(at);
  header.writeUInt32LE(isWhole ? copy.size - 8 : fileEnd - 8 - (source.size - copy.size), 4);
}

function exifChunk(orientation: number): Buffer {
  const data = exifOf(orientation);
  const head = Buffer.from('EXIF\0\0\0\0', 'latin1');
  head.writeUInt32LE(data.length, 4);
  return Buffer.concat([head, data]);
}
