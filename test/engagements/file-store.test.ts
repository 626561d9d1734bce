import assert from 'node:assert/strict';
import { createReadStream, createWriteStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { test } from 'node:test';
import { FileDisk } from '../../packages/server/src/engagements/files/disk.ts';
import type { FileStore } from '../../packages/server/src/engagements/files/file-store.ts';
import { newId, type FileId } from '../../packages/server/src/platform/ids.ts';
import { createLog } from '../../packages/server/src/platform/log.ts';

/** Stores bytes like a remote service would: incoming bytes are in a local folder until `keep` uploads them. */
function memoryStore(folder: string): FileStore {
  const kept = new Map<FileId, Buffer>();
  const marks = new Map<FileId, Date>();
  const incomingPath = (id: FileId): string => join(folder, id);
  const drop = (id: FileId): void => rmSync(incomingPath(id), { force: true });
  return {
    isFull: false,
    begin: async (id) => void marks.set(id, new Date()),
    write: (id) => createWriteStream(incomingPath(id), { flags: 'wx' }),
    incomingPath,
    replace: async (id, bytes) => writeFileSync(incomingPath(id), await buffer(bytes)),
    async keep(id) {
      kept.set(id, readFileSync(incomingPath(id)));
      drop(id);
    },
    settle: async (id) => void marks.delete(id),
    async discard(id) {
      drop(id);
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
    unsettled: async (before) => [...marks].filter(([, at]) => at < before).map(([id]) => id),
    faultOf: (error) => error,
  };
}

const stores: readonly (readonly [string, (folder: string) => FileStore])[] = [
  ['disk', (folder) => new FileDisk(folder, createLog('silent'))],
  ['memory', memoryStore],
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
  const read = async (store: FileStore, id: FileId): Promise<string | null> => {
    const stored = await store.open(id);
    return stored === null ? null : text(stored.createReadStream());
  };

  usingStore('a file can be read after keep, and is marked until settle', async (store) => {
    const id = await write(store);
    assert.equal(readFileSync(store.incomingPath(id), 'utf8'), 'first, then');
    assert.equal(await read(store, id), null);
    await store.keep(id);
    assert.equal(await read(store, id), 'first, then');
    assert.deepEqual(await store.unsettled(soon()), [id]);
    await store.settle(id);
    assert.deepEqual(await store.unsettled(soon()), []);
    assert.equal(await read(store, id), 'first, then');
  });

  usingStore('written bytes can be replaced by what is made from them', async (store) => {
    const id = await write(store);
    await store.replace(id, Readable.from(createReadStream(store.incomingPath(id), { end: 4 })));
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
    assert.equal(readFileSync(store.incomingPath(failed), 'utf8'), 'first, then', 'a failure changes nothing');
    await store.discard(failed);
    assert.deepEqual(await store.unsettled(soon()), [id]);
  });

  usingStore('leftovers of a crash at any step are found later and can be discarded', async (store) => {
    const begun = newId<FileId>();
    await store.begin(begun);
    const written = await write(store);
    const kept = await write(store);
    await store.keep(kept);
    const left = [begun, written, kept];
    assert.deepEqual(new Set(await store.unsettled(soon())), new Set(left));
    assert.deepEqual(await store.unsettled(new Date(Date.now() - 60_000)), []);
    for (const id of left) await store.discard(id);
    assert.deepEqual(await store.unsettled(soon()), []);
    for (const id of left) assert.equal(await read(store, id), null);
  });

  usingStore('removing bytes twice is harmless, and an unknown file is not found', async (store) => {
    const id = await write(store);
    await store.keep(id);
    await store.settle(id);
    await store.remove(id);
    await store.remove(id);
    assert.equal(await read(store, id), null);
    const unknown = newId<FileId>();
    await store.settle(unknown);
    await store.discard(unknown);
    assert.equal(await read(store, unknown), null);
    const closed = await write(store);
    await store.keep(closed);
    await (await store.open(closed))?.close();
  });
}
