import Type from 'typebox';
import type { Piece, Sql } from '../../../platform/database.ts';
import { invalid } from '../../../platform/errors.ts';
import { body, nullable } from '../../../platform/schema.ts';

const mostBytes = 256 * 1024;
const wanted = 'must be a PNG, JPEG or WebP picture of at most 256 KiB, in base64';

export const pictureInput = body({
  content: Type.String({
    minLength: 1,
    maxLength: Math.ceil(mostBytes / 3) * 4,
    description: 'The bytes of a PNG, JPEG or WebP picture, at most 256 KiB, in base64',
  }),
});

export const pictureUrl = Type.Unsafe<string | null>({
  ...nullable(Type.String()),
  description: 'Path on this server of the picture that visitors see; null: none',
});

type PictureType = 'image/png' | 'image/jpeg' | 'image/webp';

export interface Picture {
  readonly content_type: PictureType;
  readonly content: Buffer;
}

/** Pictures that browsers show and that cannot hold a script; SVG can. The first bytes decide, whatever the sender says. */
const signatures: readonly { readonly type: PictureType; readonly pattern: RegExp }[] = [
  { type: 'image/png', pattern: /^89504e470d0a1a0a/ },
  { type: 'image/jpeg', pattern: /^ffd8ff/ },
  { type: 'image/webp', pattern: /^52494646.{8}57454250/ },
];

function pictureTypeOf(content: Buffer): PictureType | null {
  const start = content.subarray(0, 12).toString('hex');
  return signatures.find(({ pattern }) => pattern.test(start))?.type ?? null;
}

/** The picture that a body holds. */
export function readPicture({ content: text }: Type.Static<typeof pictureInput>): Picture {
  const content = Buffer.from(text, 'base64');
  const type = pictureTypeOf(content);
  // Decoding skips what is no base64: encoded again, the same text must come out.
  if (type === null || content.length > mostBytes || content.toString('base64') !== text)
    throw invalid([{ attribute: '/content', detail: wanted }]);
  return { content_type: type, content };
}

const pathOfPictures = '/operator_pictures/';

export function pathOfPicture(id: string | null): string | null {
  return id === null ? null : `${pathOfPictures}${id}`;
}

/** The same in SQL, of the operator `o`. */
export function pictureUrlOf(sql: Sql): Piece {
  return sql`${pathOfPictures}::text || o.picture_id`;
}
