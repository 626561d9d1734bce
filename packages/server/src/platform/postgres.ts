import { registerHooks } from 'node:module';

/**
 * postgres.js, mended where it loses a connection (3.4.9; its issues 1066, 1154 and 1208). A statement sent on a connection
 * that has just closed was written to a socket that is null, which ended the process; and a connection that closed with a
 * write pending never wrote again; and one lost while it was being opened rejected a promise that nobody holds. The first is
 * now refused like any other on a lost connection, the second forgets the pending write, the third is tried again. Once a release has this, the hook refuses to start and is to be deleted.
 */
const mends: readonly (readonly [was: string, is: string])[] = [
  [
    'function write(x, fn) {\n',
    "function write(x, fn) {\n    if (socket === null) {\n      const lost = Errors.connection('CONNECTION_CLOSED', options, socket)\n      query && queryError(query, lost)\n      while (sent.length) queryError(sent.shift(), lost)\n      return true\n    }\n",
  ],
  [
    "clearImmediate(nextWriteTimer)\n    socket.removeListener('data', data)",
    "clearImmediate(nextWriteTimer)\n    chunk = nextWriteTimer = null\n    socket.removeListener('data', data)",
  ],
  [
    'clearImmediate(nextWriteTimer)\n    if (socket) {',
    'clearImmediate(nextWriteTimer)\n    chunk = nextWriteTimer = null\n    if (socket) {',
  ],
  // The types a new connection asks for first: nobody waits for them, so nobody hears that it was lost meanwhile.
  ['return fetchArrayTypes()', 'return fetchArrayTypes().catch(() => undefined)'],
];

const hook = registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.endsWith('/postgres/src/connection.js')) return loaded;
    const source =
      typeof loaded.source === 'string' ? loaded.source : new TextDecoder().decode(loaded.source ?? undefined);
    return { ...loaded, source: mends.reduce(mend, source) };
  },
});

function mend(source: string, [was, is]: readonly [string, string]): string {
  if (!source.includes(was))
    throw new Error('postgres.js has changed: see whether platform/postgres.ts is still needed');
  return source.replace(was, is);
}

const { default: postgres } = await import('postgres');
hook.deregister();

export default postgres;
