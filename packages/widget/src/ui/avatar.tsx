import type { EngagedOperator } from '@usher/sdk/api-types';
import { useEffect, useRef, useState } from 'preact/hooks';
import { initialsOf } from '../chat/initials.ts';

/** The canvas is larger than its size on the page, for high-resolution screens. */
const canvasSize = 96;

/** Cached pictures by URL. `null`: loading failed. */
const cache = new Map<string, Promise<ImageBitmap | null>>();

/**
 * Fetches the picture, to draw it on a canvas. An `<img>` would need another permission in the page's content security policy
 * (`img-src` besides `connect-src`).
 */
async function pictureAt(url: string): Promise<ImageBitmap | null> {
  const picture = cache.get(url) ?? load(url).catch(() => null);
  cache.set(url, picture);
  return picture;
}

async function load(url: string): Promise<ImageBitmap> {
  const response = await fetch(url, { credentials: 'omit' });
  if (!response.ok) throw new Error(`${response.status}`);
  return createImageBitmap(await response.blob());
}

/** Fills the canvas with the centre of the picture. */
function draw(canvas: HTMLCanvasElement, picture: ImageBitmap): void {
  const side = Math.min(picture.width, picture.height);
  const [x, y] = [(picture.width - side) / 2, (picture.height - side) / 2];
  canvas.getContext('2d')?.drawImage(picture, x, y, side, side, 0, 0, canvasSize, canvasSize);
}

interface Props {
  readonly operator: EngagedOperator;
  readonly baseUrl: string;
}

/** The picture of an operator, or their initials while there is none. Hidden from screen readers: the name is beside it. */
export function Avatar({ operator: { display_name: name, picture_url: path }, baseUrl }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [shown, setShown] = useState<string | null>(null);
  useEffect(() => {
    if (path === null) return;
    let isCurrent = true;
    void pictureAt(baseUrl + path).then((picture) => {
      if (!isCurrent || picture === null || canvas.current === null) return;
      draw(canvas.current, picture);
      setShown(path);
    });
    return () => {
      isCurrent = false;
    };
  }, [path, baseUrl]);
  const isShown = path !== null && shown === path;
  return (
    <span class="avatar" aria-hidden="true">
      {!isShown && initialsOf(name)}
      {path !== null && <canvas ref={canvas} width={canvasSize} height={canvasSize} hidden={!isShown} />}
    </span>
  );
}
