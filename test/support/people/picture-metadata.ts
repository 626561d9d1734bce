import { crc32 } from 'node:zlib';

/** Pictures with metadata, made of their parts. The pixels are noise: nothing here decodes them. */

/** What none of the cleaned pictures may contain. */
export const secret = 'GPS 59.4370N 24.7536E';

/** EXIF data with an orientation, a software name and a text, in either byte order. */
function exif(orientation: number, order: 'II' | 'MM' = 'MM'): Buffer {
  const isLittle = order === 'II';
  const text = Buffer.from(`${secret}\0`, 'latin1');
  const short = (value: number): Buffer => number(value, 2, isLittle);
  const long = (value: number): Buffer => number(value, 4, isLittle);
  const entries = [
    // ImageDescription, with the text behind the directory; Orientation, in the entry itself.
    Buffer.concat([short(0x010e), short(2), long(text.length), long(8 + 2 + 2 * 12 + 4)]),
    Buffer.concat([short(0x0112), short(3), long(1), short(orientation), short(0)]),
  ];
  const head = Buffer.concat([Buffer.from(order, 'latin1'), short(42), long(8)]);
  return Buffer.concat([head, short(entries.length), ...entries, long(0), text]);
}

function number(value: number, bytes: 2 | 4, isLittle: boolean): Buffer {
  const buffer = Buffer.alloc(bytes);
  if (isLittle) buffer.writeUIntLE(value, 0, bytes);
  else buffer.writeUIntBE(value, 0, bytes);
  return buffer;
}

const latin = (text: string): Buffer => Buffer.from(text, 'latin1');

/** A segment of a JPEG. */
export function segment(code: number, content: Buffer | string): Buffer {
  const data = typeof content === 'string' ? latin(content) : content;
  return Buffer.concat([Buffer.from([0xff, code]), number(data.length + 2, 2, false), data]);
}

const start = Buffer.from([0xff, 0xd8]);
export const jpegEnd = Buffer.from([0xff, 0xd9]);
export const jfif = segment(0xe0, 'JFIF\0\u{1}\u{1}\0\0\u{1}\0\u{1}\0\0');
const exifSegment = (orientation: number): Buffer =>
  segment(0xe1, Buffer.concat([latin('Exif\0\0'), exif(orientation)]));
const colours = [segment(0xe2, 'ICC_PROFILE\0\u{1}\u{1}profile'), segment(0xee, 'Adobe\0d\0\0\0\0\u{1}')];
/** Quantization, frame, and two scans with escaped and restart markers in their data. */
const scan = Buffer.concat([
  segment(0xda, 'scan'),
  latin('pixels'),
  Buffer.from([1, 0xff, 0, 2, 0xff, 0xd0, 3, 0xff, 0xff, 0, 4]),
]);
const jpegPixels = Buffer.concat([segment(0xdb, 'quantization'), segment(0xc2, 'frame'), scan, scan]);

/** A JPEG as phones make them, and the same without metadata. */
export function jpeg(orientation: number, kept: Buffer): { readonly dirty: Buffer; readonly clean: Buffer } {
  const xmp = segment(0xe1, `http://ns.adobe.com/xap/1.0/\0<x:xmpmeta>${secret}</x:xmpmeta>`);
  const others = [segment(0xed, `Photoshop 3.0\0${secret}`), segment(0xe2, `MPF\0${secret}`), segment(0xfe, secret)];
  return {
    dirty: Buffer.concat([
      start,
      jfif,
      exifSegment(orientation),
      xmp,
      ...colours,
      ...others,
      jpegPixels,
      jpegEnd,
      latin(secret),
    ]),
    clean: Buffer.concat([start, jfif, kept, ...colours, jpegPixels, jpegEnd]),
  };
}

/** The only EXIF data that stays. */
export const turned = (orientation: number): Buffer =>
  Buffer.concat([
    Buffer.from('49492a0008000000010012010300', 'hex'),
    number(1, 4, true),
    number(orientation, 4, true),
    number(0, 4, true),
  ]);

/** A chunk of a PNG. */
export function chunk(type: string, content: Buffer | string): Buffer {
  const data = typeof content === 'string' ? latin(content) : content;
  const named = Buffer.concat([latin(type), data]);
  return Buffer.concat([number(data.length, 4, false), named, number(crc32(named), 4, false)]);
}

export function png(orientation: number, kept: Buffer): { readonly dirty: Buffer; readonly clean: Buffer } {
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  const [header, colour, data, end] = [
    chunk('IHDR', 'width+height.'),
    chunk('gAMA', 'abcd'),
    chunk('IDAT', 'pixels'),
    chunk('IEND', ''),
  ];
  const texts = ['tEXt', 'zTXt', 'iTXt', 'tIME', 'prVt'].map((type) => chunk(type, secret));
  return {
    dirty: Buffer.concat([
      signature,
      header,
      colour,
      chunk('eXIf', exif(orientation)),
      ...texts,
      data,
      data,
      chunk('tEXt', secret),
      end,
      latin(secret),
    ]),
    clean: Buffer.concat([signature, header, colour, kept, data, data, end]),
  };
}

/** A chunk of a WebP. */
export function riffChunk(type: string, content: Buffer | string): Buffer {
  const data = typeof content === 'string' ? latin(content) : content;
  return Buffer.concat([latin(type), number(data.length, 4, true), data, Buffer.alloc(data.length % 2)]);
}

function riff(...chunks: readonly Buffer[]): Buffer {
  const content = Buffer.concat([latin('WEBP'), ...chunks]);
  return Buffer.concat([latin('RIFF'), number(content.length, 4, true), content]);
}

/** The features of a WebP: `flags` and the size of the canvas. */
const features = (flags: number): Buffer => riffChunk('VP8X', Buffer.from([flags, 0, 0, 0, 9, 0, 0, 9, 0, 0]));

export function webp(orientation: number, kept: Buffer): { readonly dirty: Buffer; readonly clean: Buffer } {
  const [profile, pixels] = [riffChunk('ICCP', 'profile'), riffChunk('VP8 ', 'pixels!')];
  const extra = [riffChunk('EXIF', exif(orientation, 'II')), riffChunk('XMP ', secret), riffChunk('unkn', secret)];
  return {
    dirty: Buffer.concat([riff(features(0x20 | 0x08 | 0x04), profile, pixels, ...extra), latin(secret)]),
    clean: riff(features(kept.length === 0 ? 0x20 : 0x20 | 0x08), profile, pixels, kept),
  };
}
