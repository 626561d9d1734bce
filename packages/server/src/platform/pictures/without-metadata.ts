import { planJpeg } from './jpeg.ts';
import { PictureCopy, type PictureSource } from './picture-copy.ts';
import { planPng } from './png.ts';
import { planWebp } from './webp.ts';

const planners: Readonly<Record<string, (source: PictureSource, copy: PictureCopy) => Promise<void>>> = {
  'image/jpeg': planJpeg,
  'image/png': planPng,
  'image/webp': planWebp,
};

/** Whether the metadata of this type of content can be removed. */
export function hasRemovableMetadata(contentType: string): boolean {
  return Object.hasOwn(planners, contentType);
}

/**
 * A copy of a picture without what it says about itself: where and when it was taken, with what, by whom, thumbnails and comments. Only
 * the container is rewritten; pixels and colours stay as they are, bit by bit. The orientation stays, because phones store pictures as
 * the sensor saw them. Returns `null` if there is nothing to remove.
 *
 * What is removed is decided by lists of what is kept, so that kinds of metadata that nobody thought of are removed, too. A damaged
 * picture is copied unchanged from the damage on: nothing but metadata is ever lost.
 */
export async function withoutMetadata(source: PictureSource, contentType: string): Promise<PictureCopy | null> {
  const copy = new PictureCopy(source);
  await planners[contentType]?.(source, copy);
  return copy.isChanged ? copy : null;
}
