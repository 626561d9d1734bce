const orientationTag = 0x0112;
const shortType = 3;
const entryBytes = 12;
/** EXIF data is read up to this size: a segment of a JPEG has no more. */
export const maxExifBytes = 65_536;

/** The orientation in EXIF data, 2 to 8. `null`: the picture is upright, or the data cannot be read. */
export function orientationOf(exif: Buffer): number | null {
  // JPEG has this prefix always, WebP sometimes.
  const tiff = exif.toString('latin1', 0, 6) === 'Exif\0\0' ? exif.subarray(6) : exif;
  const order = tiff.toString('latin1', 0, 2);
  if (tiff.length < 8 || (order !== 'II' && order !== 'MM')) return null;
  const isLittle = order === 'II';
  const short = (at: number): number => (isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  const directory = isLittle ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4);
  if (directory + 2 > tiff.length) return null;
  const count = Math.min(short(directory), Math.floor((tiff.length - directory - 2) / entryBytes));
  for (let index = 0; index < count; index += 1) {
    const at = directory + 2 + index * entryBytes;
    if (short(at) !== orientationTag || short(at + 2) !== shortType) continue;
    const value = short(at + 8);
    return value >= 2 && value <= 8 ? value : null;
  }
  return null;
}

/** EXIF data that says only how the picture is turned. */
export function exifOf(orientation: number): Buffer {
  // Little-endian TIFF, with one directory of one entry.
  const tiff = Buffer.from('49492a0008000000_0100_120103000100000000000000_00000000'.replaceAll('_', ''), 'hex');
  tiff.writeUInt16LE(orientation, 18);
  return tiff;
}
