import { problemOf, Unreachable } from './problem.ts';

interface Upload {
  readonly url: string;
  readonly form: FormData;
  readonly authorization: string;
  /** From 0 to 1. */
  readonly onProgress: (share: number) => void;
}

/** Uploads a form with a file. Uses XMLHttpRequest, because `fetch` does not report upload progress. */
export async function upload({ url, form, authorization, onProgress }: Upload): Promise<unknown> {
  const request = new XMLHttpRequest();
  const done = new Promise<void>((resolve, reject) => {
    request.addEventListener('load', () => resolve());
    for (const failure of ['error', 'timeout', 'abort'] as const)
      request.addEventListener(failure, () => reject(new Unreachable(failure)));
  });
  request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(total === 0 ? 0 : loaded / total));
  request.open('POST', url);
  request.setRequestHeader('authorization', authorization);
  request.send(form);
  await done;
  const { status, responseText } = request;
  if (status < 200 || status > 299) throw await problemOf(new Response(responseText, { status }));
  return JSON.parse(responseText);
}
