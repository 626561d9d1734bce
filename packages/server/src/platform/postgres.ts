import { registerHooks } from 'node:module';

/**
 * postgres.js 3.4.9, mended as it is loaded where it loses a connection (docs/decisions/0012). Each mend says what went
 * wrong without it and has a test in test/driver.test.ts. Once a release has changed one of these places, we refuse to
 * start: see which mends are still needed, and delete the others.
 */
interface Mend {
  readonly file: 'connection.js' | 'index.js';
  readonly was: string;
  readonly is: string;
}

/** What the mends add to the handle of a transaction. */
export interface Abandonable {
  /** Destroys the transaction's connection: whatever waits for it is rejected as if the server had closed it. */
  abandon(): void;
}

const mends: readonly Mend[] = [
  // A closed connection kept the statement it was at, those sent after it, the server's last error, half a result and a
  // pending write (and never wrote again), and brought them along to its next socket. Node tells of a reset in two steps, `error` and later `close`, and what was sent
  // between them (the ROLLBACK of a lost transaction) was never answered; on the next socket the answers to other statements
  // were taken for its own, so that some got another's rows and the last waited for ever. Now whoever waits hears of
  // the loss, and the next socket starts from nothing. (Upstream 1215, 1223.)
  //
  // A connection lost while it was being opened was opened again without end, and with it the statement waited; `retries`
  // was meant to count that, and never did. What the driver asked by itself on a new connection nobody waits for.
  {
    file: 'connection.js',
    was: `
    if (initial)
      return reconnect()

    !hadError && (query || sent.length) && error(Errors.connection('CONNECTION_CLOSED', options, socket))
`,
    is: `
    const lost = Errors.connection('CONNECTION_CLOSED', options)
    const again = initial && retries++ <= options.host.length
    again || errored(lost)
    while (sent.length) queryError(sent.shift(), lost)
    query = errorResponse = chunk = nextWriteTimer = null
    rows = 0
    ended && (ended(), ending = ended = null)
    if (again)
      return reconnect()

`,
  },
  { file: 'connection.js', was: '      initial = query\n', is: '      initial = query\n      retries = 0\n' },
  // Nobody holds the promise of the types a new connection asks for first: its rejection would end the process.
  {
    file: 'connection.js',
    was: 'return fetchArrayTypes()',
    is: 'return fetchArrayTypes().catch(() => undefined)',
  },
  // Between two sockets there is nothing to write to: writing to null ended the process (upstream 1066, 1154, 1208). True
  // says that the connection takes more; false would have the pool wait for an answer, and never use it again.
  {
    file: 'connection.js',
    was: '    if (stream)\n      return queryError(q, Errors.generic(',
    is: `    if (socket === null)
      return (queryError(q, Errors.connection('CONNECTION_CLOSED', options)), true)

    if (stream)
      return queryError(q, Errors.generic(`,
  },
  // A BEGIN that filled the pipeline, or the socket's buffer, was sent without reserving the connection: the transaction
  // failed, and stayed open under whoever came next (upstream 1189).
  {
    file: 'connection.js',
    was: '      build(q)\n      return write(toBuffer(q))\n',
    is: '      build(q)\n      q.options.onexecute && q.options.onexecute(connection)\n      return write(toBuffer(q))\n',
  },
  {
    file: 'connection.js',
    was: '&& (!q.options.onexecute || q.options.onexecute(connection))',
    is: '&& !q.options.onexecute',
  },
  // The fence: once its connection is lost, no statement of a transaction, its COMMIT or ROLLBACK included, may reach the
  // connection that takes its place; it would run in another's transaction, or in none (upstream 1155, 1216). And those
  // that waited for their turn in the transaction are rejected, not forgotten (upstream 1186).
  {
    file: 'index.js',
    was: '      , prepare = null\n',
    is: '      , prepare = null\n      , lost = null\n',
  },
  {
    file: 'index.js',
    was: 'new Promise((_, reject) => connection.onclose = reject)',
    is: `new Promise((_, reject) => connection.onclose = error => {
          lost = error
          while (queries.length) queries.shift().reject(error)
          reject(error)
        })`,
  },
  {
    file: 'index.js',
    was: '        q.catch(e => uncaughtError || (uncaughtError = e))\n',
    is: '        q.catch(e => uncaughtError || (uncaughtError = e))\n        if (lost) return q.reject(lost)\n',
  },
  // `Abandonable`: the driver has no way to give up one connection.
  {
    file: 'index.js',
    was: '      sql.savepoint = savepoint\n',
    is: '      sql.savepoint = savepoint\n      sql.abandon = () => lost || c.destroy()\n',
  },
  {
    file: 'connection.js',
    was: '    terminate,\n    execute,\n',
    is: '    terminate,\n    destroy() { socket && socket.destroy() },\n    execute,\n',
  },
];

const hook = registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    const own = mends.filter(({ file }) => url.endsWith(`/postgres/src/${file}`));
    if (own.length === 0) return loaded;
    const source =
      typeof loaded.source === 'string' ? loaded.source : new TextDecoder().decode(loaded.source ?? undefined);
    return { ...loaded, source: own.reduce(apply, source) };
  },
});

function apply(source: string, { was, is }: Mend): string {
  const [before, after, ...more] = source.split(was);
  if (before === undefined || after === undefined || more.length > 0)
    throw new Error('postgres.js has changed: see whether platform/postgres.ts is still needed');
  return before + is + after;
}

const { default: postgres } = await import('postgres');
hook.deregister();

export default postgres;
