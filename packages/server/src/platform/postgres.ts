import { registerHooks } from 'node:module';

/**
 * postgres.js 3.4.9, mended as it is loaded where it loses a connection (docs/decisions/0012). Each mend says what went
 * wrong without it and has a test in test/platform/driver.test.ts. Once a release has changed one of these places, we refuse to
 * start: see which mends are still needed, and delete the others.
 */
interface Mend {
  readonly file: 'connection.js' | 'index.js' | 'queue.js';
  readonly was: string;
  readonly is: string;
}

/** What the mends add to the handle of a transaction. */
export interface Abandonable {
  /** Destroys the transaction's connection: whatever waits for it is rejected as if the server had closed it. */
  abandon(): void;
}

/** What the mends add to a pool, for `pool-watch.ts`. */
export interface Watchable {
  readonly connections: readonly {
    /** The statement that the server is at, or that waits for the connection to open; a new object for each. */
    readonly unanswered: object | null;
    /** Whoever waits for the connection is rejected as if the server had closed it. The pool opens another when it needs one. */
    destroy(): void;
  }[];
  /** Rejects the statements that have been waiting for a connection since before that instant of `performance.now()`. */
  readonly rejectQueued: (before: number) => void;
  readonly options: {
    /** The statement that each new connection starts with. Who waits for the connection waits for its answer. */
    settings?: string;
    /** Whether statements are rejected at once. */
    refuses?: () => boolean;
  };
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
  // `retries`: a connection that is given up while it is being opened is not opened again for the same statement.
  {
    file: 'connection.js',
    was: '    terminate,\n    execute,\n',
    is: `    terminate,
    destroy() { retries = Infinity, socket && socket.destroy() },
    get unanswered() { return query || initial },
    execute,
`,
  },
  // `Watchable`: the driver has no limit to how long a statement waits for a connection, nor for an answer.
  {
    file: 'index.js',
    was: '    reserve,\n    listen,\n',
    is: '    reserve,\n    connections,\n    rejectQueued,\n    listen,\n',
  },
  {
    file: 'index.js',
    was: '      : queries.push(query)\n  }\n\n  function go(',
    is: `      : (query.queuedAt = performance.now(), queries.push(query))
  }

  function rejectQueued(before) {
    while (queries.length && queries.peek().queuedAt < before)
      queries.shift().reject(Errors.connection('CONNECT_TIMEOUT', options, options))
  }

  function go(`,
  },
  { file: 'queue.js', was: '    push: (x)', is: '    peek: () => xs[index],\n    push: (x)' },
  {
    file: 'index.js',
    was: '    if (open.length)\n      return go(open.shift(), query)\n',
    is: `    if (options.refuses && options.refuses())
      return query.reject(Errors.connection('CONNECT_TIMEOUT', options, options))

    if (open.length)
      return go(open.shift(), query)
`,
  },
  // `settings`: start-up parameters do not pass poolers, which refuse those they do not know. A connection on which the
  // settings fail is of no use.
  {
    file: 'connection.js',
    was: '    , needsTypes = options.fetch_types\n',
    is: '    , needsTypes = options.fetch_types\n    , needsSettings = false\n',
  },
  {
    file: 'connection.js',
    was: '      needsTypes = options.fetch_types\n      statementId',
    is: '      needsTypes = options.fetch_types\n      needsSettings = Boolean(options.settings)\n      statementId',
  },
  {
    file: 'connection.js',
    was: '      if (needsTypes) {\n',
    is: `      if (needsSettings) {
        needsSettings = false
        const given = new Query([options.settings], [], execute, null, { simple: true })
        given.reject = error => { initial && (queryError(initial, error), initial = null), socket && socket.destroy() }
        return void given.execute()
      }

      if (needsTypes) {
`,
  },
  // A deadlock ends a statement outside of a transaction with nothing changed: it is tried again, once, over whichever
  // connection is free. Not at once: PostgreSQL lets whoever comes next have the lock before it has woken up the winner.
  {
    file: 'connection.js',
    was: '            ? retry(query, errorResponse)\n',
    is: `            ? retry(query, errorResponse)
          : !connection.reserved && lostRaces.has(errorResponse.code)
            ? (query.retried = errorResponse, setTimeout(query.handler, 50, query))
`,
  },
  {
    file: 'connection.js',
    was: 'const errorFields = {',
    is: "const lostRaces = new Set(['40001', '40P01'])\n\nconst errorFields = {",
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
