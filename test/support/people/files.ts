import { readdirSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { call, type Answer, type Json } from '../server.ts';
import {
  acceptOffer,
  enqueue,
  expectStatus,
  makeAccount,
  makeAvailableOperator,
  makeQueue,
  type ServerHandle,
  type TestAccount,
  type TestOperator,
  type TestVisitor,
} from '../world.ts';

/** A form with one file. */
export function fileForm(content: string | Uint8Array<ArrayBuffer>, name = 'note.txt', type = 'text/plain'): FormData {
  const form = new FormData();
  form.append('content', new Blob([content], { type }), name);
  return form;
}

/** An engagement in which files are sent. */
export interface FileEngagement {
  readonly account: TestAccount;
  readonly operator: TestOperator;
  readonly visitor: TestVisitor;
  readonly engagement: string;
  readonly path: string;
}

export async function startFileEngagement(server: ServerHandle, account?: TestAccount): Promise<FileEngagement> {
  const own = account ?? (await makeAccount(server));
  const queue = await makeQueue(server, own);
  const operator = await makeAvailableOperator(server, own);
  const { visitor } = await enqueue(server, own, queue);
  const engagement = await acceptOffer(server, operator);
  return { account: own, operator, visitor, engagement, path: `/engagements/${engagement}/files` };
}

export async function postFile(
  server: { url: string },
  { path, visitor }: FileEngagement,
  body: FormData,
  { token = visitor.token, headers = {} }: { token?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  return call(server, `POST ${path}`, { token, body, headers });
}

/** Uploads a file and expects success. Returns its id. */
export async function uploadFile(server: { url: string }, talk: FileEngagement, body: FormData): Promise<string> {
  return expectStatus(await postFile(server, talk, body), 200).body.file_id;
}

export async function listFiles(server: { url: string }, { path, visitor }: FileEngagement): Promise<Json[]> {
  return expectStatus(await call(server, `GET ${path}`, { token: visitor.token }), 200).body.files;
}

/** The names of all stored files. */
export function filesOnDisk(dataDir: string): string[] {
  try {
    return readdirSync(join(dataDir, 'files'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => name)
      .toSorted();
  } catch {
    return [];
  }
}

export function pathOnDisk(dataDir: string, id: string): string {
  return join(dataDir, 'files', id.slice(0, 2), id.slice(2, 4), id);
}

export async function changeSite(server: ServerHandle, { admin, siteId }: TestAccount, body: Json): Promise<void> {
  expectStatus(await call(server, `PATCH /sites/${siteId}`, { token: admin, body }), 200);
}

/** Pictures of one pixel. */
export const png = Uint8Array.from(
  Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  ),
);
export const gif = Uint8Array.from(Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64'));

/** An upload whose pace the test decides. */
export interface SlowUpload {
  /** Sends a piece of the file. Resolves when it was written to the socket. */
  write(piece: string | Uint8Array): Promise<void>;
  /** Sends the end of the form. */
  end(): void;
  /** Closes the connection. */
  cut(): void;
  readonly answer: Promise<{ status: number; body: Json }>;
}

/** The visitor uploads, unless another token is given. */
export function slowUpload(
  server: { url: string },
  { path, visitor }: FileEngagement,
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
