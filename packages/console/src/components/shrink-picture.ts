/** Pictures of people are shown small: a square of this many pixels is enough for every screen. */
const side = 256;

/** The centre of a picture as a small square, in base64. Drawing it also drops metadata of cameras, such as the location. */
export async function shrinkPicture(file: File): Promise<string> {
  const picture = await createImageBitmap(file).catch(() => null);
  if (picture === null) throw new Error('This file is not a picture that the browser can read.');
  const canvas = document.createElement('canvas');
  canvas.width = side;
  canvas.height = side;
  const taken = Math.min(picture.width, picture.height);
  const [x, y] = [(picture.width - taken) / 2, (picture.height - taken) / 2];
  canvas.getContext('2d')?.drawImage(picture, x, y, taken, taken, 0, 0, side, side);
  picture.close();
  // A browser that cannot write WebP writes PNG instead.
  const address = canvas.toDataURL('image/webp', 0.9);
  return address.slice(address.indexOf(',') + 1);
}
