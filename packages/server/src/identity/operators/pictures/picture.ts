import { buffer } from 'node:stream/consumers';
import Type from 'typebox';
import type { SqlFragment, Sql } from '../../../platform/database/database.ts';
import { invalid } from '../../../platform/errors.ts';
import { sourceOfBuffer } from '../../../platform/pictures/picture-copy.ts';
import { withoutMetadata } from '../../../platform/pictures/without-metadata.ts';
import { body, nullable } from '../../../platform/schema.ts';

const maxPictureBytes = 256 * 1024;
const invalidPicture = 'must be a PNG, JPEG or WebP picture of at most 256 KiB, encoded as base64';

export const pictureInput = body({
  content: Type.String({
    minLength: 1,
    maxLength: Math.ceil(maxPictureBytes / 3) * 4,
    description: 'A PNG, JPEG or WebP picture of at most 256 KiB, encoded as base64',
  }),
});

export const pictureUrl = Type.Unsafe<string | null>({
  ...nullable(Type.String()),
  description: 'Path of the picture that visitors see; null: no picture',
});

type PictureType = 'image/png' | 'image/jpeg' | 'image/webp';

export interface Picture {
  readonly content_type: PictureType;
  readonly content: Buffer;
}

/** Formats that cannot contain scripts, unlike SVG. The first bytes of the content decide, not the sender's claim. */
const signatures: readonly { readonly type: PictureType; readonly pattern: RegExp }[] = [
  { type: 'image/png', pattern: /^89504e470d0a1a0a/ },
  { type: 'image/jpeg', pattern: /^ffd8ff/ },
  { type: 'image/webp', pattern: /^52494646.{8}57454250/ },
];

function pictureTypeOf(content: Buffer): PictureType | null {
  const start = content.subarray(0, 12).toString('hex');
  return signatures.find(({ pattern }) => pattern.test(start))?.type ?? null;
}

/** Decodes the picture of a request body, and removes its metadata: pictures are public. */
export async function readPicture({ content: text }: Type.Static<typeof pictureInput>): Promise<Picture> {
  const content = Buffer.from(text, 'base64');
  const type = pictureTypeOf(content);
  // `Buffer.from` skips invalid characters, so the text must be the same when it is encoded again.
  if (type === null || content.length > maxPictureBytes || content.toString('base64') !== text)
    throw invalid([{ attribute: '/content', detail: invalidPicture }]);
  const copy = await withoutMetadata(sourceOfBuffer(content), type);
  return { content_type: type, content: copy === null ? content : await buffer(copy.bytes()) };
}

const pathOfPictures = '/operator_pictures/';

export function pathOfPicture(id: string | null): string | null {
  return id === null ? null : `${pathOfPictures}${id}`;
}

/** `pathOfPicture` as an SQL expression for the operator `o`. */
export function pictureUrlOf(sql: Sql): SqlFragment {
  return sql`${pathOfPictures}::text || o.picture_id`;
}
