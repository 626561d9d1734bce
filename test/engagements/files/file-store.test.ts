import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { test } from 'node:test';
import { FileBucket } from '../../../packages/server/src/engagements/files/bucket/bucket.ts';
import { FileDisk } from '../../../packages/server/src/engagements/files/disk.ts';
import type { FileStore } from '../../../packages/server/src/engagements/files/file-store.ts';
import { receiveFile, type ReceivedFile } from '../../../packages/server/src/engagements/files/receive-file.ts';
import { Refusal } from '../../../packages/server/src/platform/errors.ts';
import { newId, type FileId } from '../../../packages/server/src/platform/ids.ts';
import { createLog } from '../../../packages/server/src/platform/log.ts';
import { forThisFile } from '../../support/fixture.ts';
import { s3Credentials, startS3 } from '../../support/services/s3.ts';
import { fileForm } from '../../support/people/files.ts';
import { jpeg } from '../../support/people/picture-metadata.ts';

/** Stores bytes like a remote service: nothing is in a local file. */
function memoryStore(): FileStore {
  const written = new Map<FileId, Buffer>();
  const kept = new Map<FileId, Buffer>();
  const marks = new Map<FileId, Date>();
  const writtenBytes = (id: FileId): Buffer => {
    const bytes = written.get(id);
    assert.ok(bytes, 'nothing was written');
    return bytes;
  };
  return {
    isFull: false,
    begin: async (id) => void marks.set(id, new Date()),
    write(id) {
      const chunks: Buffer[] = [];
      return new Writable({
        write(chunk: Buffer, _encoding, done) {
          chunks.push(chunk);
          done();
        },
        final(done) {
          written.set(id, Buffer.concat(chunks));
          done();
        },
      });
    },
    async openWritten(id) {
      const bytes = writtenBytes(id);
      return {
        size: bytes.length,
        read: async (position, length) => bytes.subarray(position, position + length),
        close: async () => undefined,
      };
    },
    replace: async (id, bytes) => void written.set(id, await buffer(bytes)),
    async keep(id) {
      kept.set(id, writtenBytes(id));
      written.delete(id);
    },
    confirm: async (id) => void marks.delete(id),
    async discard(id) {
      written.delete(id);
      kept.delete(id);
      marks.delete(id);
    },
    remove: async (id) => void kept.delete(id),
    async open(id) {
      const bytes = kept.get(id);
      return bytes === undefined
        ? null
        : { createReadStream: () => Readable.from([bytes]), close: async () => undefined };
    },
    unconfirmed: async (before) => [...marks].filter(([, at]) => at < before).map(([id]) => id),
    missing: (id) => new Refusal('storage_unavailable', `${id} is missing`),
    faultOf: (error) => error,
  };
}

Object.assign(process.env, s3Credentials);
const s3 = await forThisFile(startS3());

const stores: readonly (readonly [string, (folder: string) => FileStore])[] = [
  ['disk', (folder) => new FileDisk(folder, createLog('silent'))],
  ['memory', memoryStore],
  [
    'bucket',
    (folder) =>
      new FileBucket(s3.bucket(s3.url, newId()), new FileDisk(folder, createLog('silent')), createLog('silent')),
  ],
];

for (const [name, open] of stores) {
  const usingStore = (behaviour: string, check: (store: FileStore) => Promise<void>): void => {
    test(`${name}: ${behaviour}`, async () => {
      const folder = mkdtempSync(join(tmpdir(), 'usher-file-store-'));
      await check(open(folder)).finally(() => rmSync(folder, { recursive: true }));
    });
  };
  const soon = (): Date => new Date(Date.now() + 1_000);
  const write = async (store: FileStore): Promise<FileId> => {
    const id = newId<FileId>();
    await store.begin(id);
    await pipeline(Readable.from(['first, ', 'then']), store.write(id));
    return id;
  };
  const readWritten = async (store: FileStore, id: FileId, length = Infinity): Promise<string> => {
    const bytes = await store.openWritten(id);
    const found = await bytes.read(0, Math.min(length, bytes.size));
    await bytes.close();
    return found.toString();
  };
  const read = async (store: FileStore, id: FileId): Promise<string | null> => {
    const stored = await store.open(id);
    return stored === null ? null : text(stored.createReadStream());
  };

  usingStore('a file can be read after keep, and is marked until settle', async (store) => {
    const id = await write(store);
    assert.equal(await readWritten(store, id), 'first, then');
    assert.equal(await read(store, id), null);
    await store.keep(id);
    assert.equal(await read(store, id), 'first, then');
    assert.deepEqual(await store.unconfirmed(soon()), [id]);
    await store.confirm(id);
    assert.deepEqual(await store.unconfirmed(soon()), []);
    assert.equal(await read(store, id), 'first, then');
  });

  usingStore('written bytes can be replaced by what is made from them', async (store) => {
    const id = await write(store);
    await store.replace(id, Readable.from([await readWritten(store, id, 5)], { objectMode: false }));
    await store.keep(id);
    assert.equal(await read(store, id), 'first');
    const failed = await write(store);
    const broken = Readable.from(
      (async function* () {
        yield 'half';
        throw await Promise.resolve(new Error('cut off'));
      })(),
    );
    await assert.rejects(store.replace(failed, broken), /cut off/);
    assert.equal(await readWritten(store, failed), 'first, then', 'a failure changes nothing');
    await store.discard(failed);
    assert.deepEqual(await store.unconfirmed(soon()), [id]);
  });

  usingStore('written bytes are read at any position, and fewer than asked for only at the end', async (store) => {
    const id = await write(store);
    const bytes = await store.openWritten(id);
    assert.equal(bytes.size, 11);
    for (const [position, length, found] of [
      [7, 4, 'then'],
      [0, 5, 'first'],
      [9, 100, 'en'],
      [11, 1, ''],
    ] as const)
      assert.equal((await bytes.read(position, length)).toString(), found);
    await bytes.close();
  });

  usingStore('an upload is examined, cleaned and stored', async (store) => {
    const { dirty, clean } = jpeg(1, Buffer.alloc(0));
    const id = newId<FileId>();
    const form = fileForm(new Uint8Array(dirty), 'picture.bin', 'application/octet-stream');
    const received = await upload(form, async (raw) => receiveFile(raw, { fileStore: store, id }, ['image/jpeg']));
    assert.equal(received.contentType, 'image/jpeg');
    assert.equal(received.bytes, clean.length);
    const stored = await store.open(id);
    assert.ok(stored);
    assert.deepEqual(await buffer(stored.createReadStream()), clean);
  });

  usingStore('leftovers of a crash at any step are found later and can be discarded', async (store) => {
    const begun = newId<FileId>();
    await store.begin(begun);
    const written = await write(store);
    const kept = await write(store);
    await store.keep(kept);
    const left = [begun, written, kept];
    assert.deepEqual(new Set(await store.unconfirmed(soon())), new Set(left));
    assert.deepEqual(await store.unconfirmed(new Date(Date.now() - 60_000)), []);
    for (const id of left) await store.discard(id);
    assert.deepEqual(await store.unconfirmed(soon()), []);
    for (const id of left) assert.equal(await read(store, id), null);
  });

  usingStore('removing bytes twice is harmless, and an unknown file is not found', async (store) => {
    const id = await write(store);
    await store.keep(id);
    await store.confirm(id);
    await store.remove(id);
    await store.remove(id);
    assert.equal(await read(store, id), null);
    const unknown = newId<FileId>();
    await store.confirm(unknown);
    await store.discard(unknown);
    assert.equal(await read(store, unknown), null);
    const closed = await write(store);
    await store.keep(closed);
    await (await store.open(closed))?.close();
  });
}

/** Sends the form to a server that receives it with `receive`. */
async function upload(form: FormData, receive: (raw: IncomingMessage) => Promise<ReceivedFile>): Promise<ReceivedFile> {
  const received = Promise.withResolvers<ReceivedFile>();
  const server = createServer((request, response) => {
    receive(request)
      .then(received.resolve, received.reject)
      .finally(() => response.end());
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = server.address() as AddressInfo;
    await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: form });
    return await received.promise;
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
