import { readdirSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { call, type Answer, type Json } from './server.ts';
import {
  acceptOffer,
  enqueue,
  expectStatus,
  makeAccount,
  makePresent,
  makeQueue,
  type Reached,
  type TestAccount,
  type TestOperator,
  type TestVisitor,
} from './world.ts';

/** A form with one file in it. */
export function fileForm(content: string | Uint8Array<ArrayBuffer>, name = 'note.txt', type = 'text/plain'): FormData {
  const form = new FormData();
  form.append('content', new Blob([content], { type }), name);
  return form;
}

/** Somebody to send files, and somebody to send them to. */
export interface Talk {
  readonly account: TestAccount;
  readonly operator: TestOperator;
  readonly visitor: TestVisitor;
  readonly engagement: string;
  readonly path: string;
}

export async function startTalk(server: Reached, account?: TestAccount): Promise<Talk> {
  const own = account ?? (await makeAccount(server));
  const queue = await makeQueue(server, own);
  const operator = await makePresent(server, own);
  const { visitor } = await enqueue(server, own, queue);
  const engagement = await acceptOffer(server, operator);
  return { account: own, operator, visitor, engagement, path: `/engagements/${engagement}/files` };
}

export async function send(
  server: { url: string },
  { path, visitor }: Talk,
  body: FormData,
  { token = visitor.token, headers = {} }: { token?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  return call(server, `POST ${path}`, { token, body, headers });
}

/** Sends a file that is taken. */
export async function sent(server: { url: string }, talk: Talk, body: FormData): Promise<string> {
  return expectStatus(await send(server, talk, body), 200).body.file_id;
}

export async function listed(server: { url: string }, { path, visitor }: Talk): Promise<Json[]> {
  return expectStatus(await call(server, `GET ${path}`, { token: visitor.token }), 200).body.files;
}

/** Everything in the folder of files that is one. */
export function onDisk(dataDir: string): string[] {
  try {
    return readdirSync(join(dataDir, 'files'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => name)
      .toSorted();
  } catch {
    return [];
  }
}

export function pathOf(dataDir: string, id: string): string {
  return join(dataDir, 'files', id.slice(0, 2), id.slice(2, 4), id);
}

export async function setSite(server: Reached, { admin, siteId }: TestAccount, body: Json): Promise<void> {
  expectStatus(await call(server, `PATCH /sites/${siteId}`, { token: admin, body }), 200);
}

/** The smallest pictures there are. */
export const png = Uint8Array.from(
  Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  ),
);
export const gif = Uint8Array.from(Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64'));

/** An upload that comes as slowly as the test likes. */
export interface SlowUpload {
  /** Sends a piece of the file; resolves when it is on its way. */
  write(piece: string | Uint8Array): Promise<void>;
  /** Sends what belongs after the file. */
  end(): void;
  /** Is gone without a word. */
  cut(): void;
  readonly answer: Promise<{ status: number; body: Json }>;
}

/** By the visitor, unless it is said by whom. */
export function slowUpload(
  server: { url: string },
  { path, visitor }: Talk,
  { token = visitor.token, name = 'slow.txt' }: { readonly token?: string; readonly name?: string } = {},
): SlowUpload {
  const request = httpRequest(`${server.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'multipart/form-data; boundary=edge' },
  });
  const answer = new Promise<{ status: number; body: Json }>((resolve, reject) => {
    request.on('error', reject);
    request.on('response', (response) => {
      response.setEncoding('utf8');
      let text = '';
      response.on('data', (piece: string) => (text += piece));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) }));
      response.on('error', reject);
    });
  });
  answer.catch(() => undefined);
  request.write(`--edge\r\ncontent-disposition: form-data; name="content"; filename="${name}"\r\n\r\n`);
  return {
    write: async (piece) => new Promise((resolve) => request.write(piece, () => resolve())),
    end: () => void request.end('\r\n--edge--\r\n'),
    cut: () => void request.destroy(),
    answer,
  };
}
