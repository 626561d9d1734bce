import type { UploadFileResponse } from './api-types.ts';
import { Call } from './call.ts';
import { newId } from './new-id.ts';
import type { CallOptions } from './operation.ts';
import { readJson } from './request.ts';
import type { Transport } from './transport.ts';

export interface UploadArguments {
  readonly engagementId: string;
  /** A `File`, or a `Blob` together with `name`. */
  readonly file: Blob;
  /** The file name. Default: that of the `File`. */
  readonly name?: string;
}

export interface UploadOptions extends Omit<CallOptions, 'ifMatch' | 'keepalive'> {
  /** Called with the share of the file that was sent, from 0 to 1. A retry begins again. */
  readonly onProgress?: (share: number) => void;
}

export interface UploadResource {
  /** Upload a file to an engagement. `POST /engagements/{engagement_id}/files` */
  upload(args: UploadArguments, options?: UploadOptions): Call<UploadFileResponse>;
}

/** How long one attempt of an upload may take, unless the caller says otherwise. */
const uploadMs = 600_000;

export function uploadFile(
  transport: Transport,
  { engagementId, file, name = nameOf(file) }: UploadArguments,
  { onProgress, idempotencyKey = newId(), timeoutMs = uploadMs, ...others }: UploadOptions = {},
): Call<UploadFileResponse> {
  const request = {
    ...others,
    method: 'POST',
    path: `/engagements/${encodeURIComponent(engagementId)}/files`,
    timeoutMs,
  };
  const headers = { 'idempotency-key': idempotencyKey };
  return new Call(
    transport.send({ ...request, ...contentOf(file, name, onProgress, headers) }, async (response) => {
      const data = (await readJson(response)) as UploadFileResponse;
      return { data, etag: null, status: response.status, headers: response.headers };
    }),
  );
}

function nameOf(file: Blob): string {
  return 'name' in file && typeof file.name === 'string' ? file.name : 'file';
}

type Content = Pick<Parameters<Transport['send']>[0], 'headers' | 'body' | 'sendWith'>;

/** A browser reports the progress of XMLHttpRequest; other runtimes send a stream, whose bytes are counted. */
function contentOf(
  file: Blob,
  name: string,
  onProgress: UploadOptions['onProgress'],
  headers: Readonly<Record<string, string>>,
): Content {
  const form = (): FormData => {
    const content = new FormData();
    content.append('content', file, name);
    return content;
  };
  if (onProgress === undefined) return { headers, body: form };
  const { XMLHttpRequest: Request } = globalThis as { XMLHttpRequest?: new () => UploadRequest };
  if (Request !== undefined)
    return {
      headers,
      body: form,
      sendWith: async (url, init) => sendReporting(new Request(), { url, init, onProgress }),
    };
  const boundary = `usher-${newId()}`;
  return {
    headers: { ...headers, 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: () => countedForm({ file, name, boundary, onProgress }),
  };
}

/** The part of XMLHttpRequest that is used. Its own type needs the types of a browser. */
interface UploadRequest {
  readonly upload: EventTarget;
  readonly status: number;
  readonly responseText: string;
  getAllResponseHeaders(): string;
  addEventListener(type: string, listener: () => void): void;
  open(method: string, url: string): void;
  setRequestHeader(name: string, value: string): void;
  send(body: unknown): void;
  abort(): void;
}

interface ReportedUpload {
  readonly url: string;
  readonly init: RequestInit;
  readonly onProgress: (share: number) => void;
}

async function sendReporting(request: UploadRequest, { url, init, onProgress }: ReportedUpload): Promise<Response> {
  const done = new Promise<void>((resolve, reject) => {
    request.addEventListener('load', () => resolve());
    for (const failure of ['error', 'timeout', 'abort'])
      request.addEventListener(failure, () => reject(new Error(`The upload ended: ${failure}.`)));
  });
  request.upload.addEventListener('progress', (event) => {
    const { loaded, total } = event as unknown as { readonly loaded: number; readonly total: number };
    onProgress(total === 0 ? 0 : loaded / total);
  });
  request.open('POST', url);
  for (const [name, value] of Object.entries(init.headers as Record<string, string>))
    request.setRequestHeader(name, value);
  init.signal?.addEventListener('abort', () => request.abort());
  request.send(init.body);
  await done;
  const headers = new Headers();
  for (const line of request.getAllResponseHeaders().split('\r\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return new Response(request.responseText, { status: request.status, headers });
}

interface CountedForm {
  readonly file: Blob;
  readonly name: string;
  readonly boundary: string;
  readonly onProgress: (share: number) => void;
}

/** The form as a stream that reports how much of the file was taken from it. */
function countedForm({ file, name, boundary, onProgress }: CountedForm): ReadableStream<Uint8Array> {
  const type = file.type === '' ? 'application/octet-stream' : file.type;
  // As `FormData` escapes them.
  const fileName = name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  const before = `--${boundary}\r\nContent-Disposition: form-data; name="content"; filename="${fileName}"\r\nContent-Type: ${type}\r\n\r\n`;
  const encoder = new TextEncoder();
  const bytes = file.stream().getReader();
  let sent = 0;
  return new ReadableStream({
    start: (controller) => controller.enqueue(encoder.encode(before)),
    async pull(controller) {
      const { done, value } = await bytes.read();
      if (done) {
        controller.enqueue(encoder.encode(`\r\n--${boundary}--\r\n`));
        controller.close();
        return;
      }
      sent += value.length;
      controller.enqueue(value);
      onProgress(sent / file.size);
    },
    cancel: async (reason) => bytes.cancel(reason),
  });
}
