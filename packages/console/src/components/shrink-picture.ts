import { texts } from './texts.ts';

/** Pictures of people are shown small: a square of this many pixels is enough for every screen. */
const side = 256;

/** The centre of a picture as a small square, in base64. Drawing it also drops metadata of cameras, such as the location. */
export async function shrinkPicture(file: File): Promise<string> {
  const picture = await createImageBitmap(file).catch(() => null);
  if (picture === null) throw new Error(texts.notAPicture);
  const canvas = document.createElement('canvas');
  canvas.width = side;
  canvas.height = side;
  const size = Math.min(picture.width, picture.height);
  const [x, y] = [(picture.width - size) / 2, (picture.height - size) / 2];
  canvas.getContext('2d')?.drawImage(picture, x, y, size, size, 0, 0, side, side);
  picture.close();
  // A browser that cannot write WebP writes PNG instead.
  const dataUrl = canvas.toDataURL('image/webp', 0.9);
  return dataUrl.slice(dataUrl.indexOf(',') + 1);
}
