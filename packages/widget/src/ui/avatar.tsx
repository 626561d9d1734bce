import type { EngagedOperator } from '@usher/client/api-types';
import { useEffect, useRef, useState } from 'preact/hooks';
import { initialsOf } from '../initials.ts';

/** Drawn larger than shown, for screens with small pixels. */
const pixels = 96;

/** Pictures by their address, so that every line of an operator shares one. `null`: it cannot be had. */
const pictures = new Map<string, Promise<ImageBitmap | null>>();

/**
 * The picture is fetched and drawn rather than put into an `<img>`: a page whose policy lets our requests through
 * (`connect-src`) need not allow our images as well (`img-src`).
 */
async function pictureAt(url: string): Promise<ImageBitmap | null> {
  const known = pictures.get(url) ?? load(url).catch(() => null);
  pictures.set(url, known);
  return known;
}

async function load(url: string): Promise<ImageBitmap> {
  const response = await fetch(url, { credentials: 'omit' });
  if (!response.ok) throw new Error(`${response.status}`);
  return createImageBitmap(await response.blob());
}

/** Fills the canvas, and cuts off what is left over at the longer sides. */
function draw(canvas: HTMLCanvasElement, picture: ImageBitmap): void {
  const side = Math.min(picture.width, picture.height);
  const [x, y] = [(picture.width - side) / 2, (picture.height - side) / 2];
  canvas.getContext('2d')?.drawImage(picture, x, y, side, side, 0, 0, pixels, pixels);
}

interface Props {
  readonly operator: EngagedOperator;
  readonly origin: string;
}

/** The picture of an operator; initials until it is there, and where there is none. The name stands beside it. */
export function Avatar({ operator: { display_name: name, picture_url: path }, origin }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [shown, setShown] = useState<string | null>(null);
  useEffect(() => {
    if (path === null) return;
    let isCurrent = true;
    void pictureAt(origin + path).then((picture) => {
      if (!isCurrent || picture === null || canvas.current === null) return;
      draw(canvas.current, picture);
      setShown(path);
    });
    return () => {
      isCurrent = false;
    };
  }, [path, origin]);
  const isShown = path !== null && shown === path;
  return (
    <span class="avatar" aria-hidden="true">
      {!isShown && initialsOf(name)}
      {path !== null && <canvas ref={canvas} width={pixels} height={pixels} hidden={!isShown} />}
    </span>
  );
}
