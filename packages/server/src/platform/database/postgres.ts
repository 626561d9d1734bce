import { registerHooks } from 'node:module';
import { transactionPatches } from './postgres-transactions.ts';
import type { Patch } from './postgres-patch.ts';

/** What the patches add to a pool, for `pool-watch.ts`. */
export interface Watchable {
  readonly connections: readonly {
    /** The statement that the server runs, or that waits for the connection to open; a new object for each statement. */
    readonly unanswered: object | null;
    /** Rejects the connection's statements as if the server had closed it. The pool opens another connection when it needs one. */
    destroy(): void;
  }[];
  /** Rejects the statements that have waited for a connection since before this instant of `performance.now()`. */
  readonly rejectQueued: (before: number) => void;
  readonly poolLoad: () => PoolLoad;
  readonly options: {
    /** The first statement of each new connection. Other statements wait until it has finished. */
    settings?: string;
    /** Whether statements are rejected at once. */
    refuses?: () => boolean;
  };
}

/** How busy a pool is, and what waiting for its connections has cost since the start. */
export interface PoolLoad {
  /** Connections that run a statement or belong to a transaction. */
  readonly inUse: number;
  /** Open connections that nothing uses. */
  readonly idle: number;
  /** Statements that wait because every connection belongs to a transaction or is being opened. */
  readonly waiting: number;
  /** How long the first of them has waited. */
  readonly oldestWaitMs: number;
  /** Statements that had to wait, and the sum of their waits. */
  readonly waits: number;
  readonly waitedMs: number;
  /** Statements that were rejected because they waited for too long. */
  readonly timeouts: number;
}

const patches: readonly Patch[] = [
  ...transactionPatches,
  // A closed connection kept its running statement, the statements sent after it, the server's last error, a partial result and
  // a pending write, and carried them over to its next socket. Node reports a reset in two steps, `error` and later `close`, and
  // a statement sent between them (the ROLLBACK of a lost transaction) was never answered. On the next socket it took the
  // responses to other statements, so that some statements got the rows of others and the last one waited forever. With the
  // patch, all waiting statements are rejected, and the next socket starts empty. (Upstream 1215, 1223.)
  //
  // A connection lost while it was being opened was reopened without end, and its statement waited; `retries` should have
  // counted this, and never did. Nobody waits for the statements that the driver itself sends on a new connection.
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
    waiting && queryError(waiting, lost)
    query = errorResponse = chunk = nextWriteTimer = begin = waiting = null
    rows = 0
    ended && (ended(), ending = ended = null)
    if (again)
      return reconnect()

`,
  },
  { file: 'connection.js', was: '      initial = query\n', is: '      initial = query\n      retries = 0\n' },
  // Nobody handles the promise of the query for array types on a new connection: its rejection would end the process.
  {
    file: 'connection.js',
    was: 'return fetchArrayTypes()',
    is: 'return fetchArrayTypes().catch(() => undefined)',
  },
  // Between two sockets the driver wrote to null, which ended the process (upstream 1066, 1154, 1208). Returning true says that
  // the connection accepts more; after false the pool would wait for a response and never use the connection again.
  {
    file: 'connection.js',
    was: '    if (stream)\n      return queryError(q, Errors.generic(',
    is: `    if (socket === null)
      return (queryError(q, Errors.connection('CONNECTION_CLOSED', options)), true)

    if (stream)
      return queryError(q, Errors.generic(`,
  },
  // `retries`: a connection that is destroyed while it is being opened is not reopened for the same statement.
  {
    file: 'connection.js',
    was: '    terminate,\n    execute,\n',
    is: `    terminate,
    destroy() { retries = Infinity, socket && socket.destroy() },
    get unanswered() { return query || initial },
    execute,
`,
  },
  // `Watchable`: the driver does not limit how long a statement waits for a connection or for its response.
  {
    file: 'index.js',
    was: '    reserve,\n    listen,\n',
    is: '    reserve,\n    connections,\n    rejectQueued,\n    poolLoad,\n    listen,\n',
  },
  {
    file: 'index.js',
    was: '      : queries.push(query)\n  }\n\n  function go(',
    is: `      : (query.queuedAt = performance.now(), queries.push(query))
  }

  function rejectQueued(before) {
    while (queries.length && queries.peek().queuedAt < before) {
      waited.timeouts += 1
      dequeue().reject(Errors.connection('CONNECT_TIMEOUT', options, options))
    }
  }

  function dequeue() {
    const query = queries.shift()
    waited.waits += 1
    waited.waitedMs += performance.now() - query.queuedAt
    return query
  }

  function poolLoad() {
    return {
      inUse: busy.length + full.length + reserved.length,
      idle: open.length,
      waiting: queries.length,
      oldestWaitMs: queries.length ? performance.now() - queries.peek().queuedAt : 0,
      ...waited
    }
  }

  function go(`,
  },
  // `PoolLoad`: the driver does not say how busy it is.
  {
    file: 'index.js',
    was: '      , queues = { connecting, reserved, closed, ended, open, busy, full }\n',
    is: `      , queues = { connecting, reserved, closed, ended, open, busy, full }
      , waited = { waits: 0, waitedMs: 0, timeouts: 0 }
`,
  },
  {
    file: 'index.js',
    was: '      const query = queries.shift()\n      if (query.reserve)',
    is: '      const query = dequeue()\n      if (query.reserve)',
  },
  {
    file: 'index.js',
    was: 'queries.length && connect(c, queries.shift())',
    is: 'queries.length && connect(c, dequeue())',
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
  // `settings`: poolers refuse start-up parameters that they do not know, so settings are made by a statement. A connection on
  // which that statement fails is closed.
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
  // The number of rows was only reset when a statement succeeded. After an error in the middle of a result, the result of the next statement
  // on the connection began with as many holes as rows had arrived.
  {
    file: 'connection.js',
    was: '  function ErrorResponse(x) {\n',
    is: '  function ErrorResponse(x) {\n    rows = 0\n',
  },
  // A statement that was sent again reported why it had failed the first time, and not why the second time.
  { file: 'connection.js', was: '? errored(query.retried)', is: '? errored(errorResponse)' },
  // A prepared statement is stale after a change of its tables, and is sent again. In a transaction it cannot succeed, and behind COMMIT it
  // would run outside of it. Outside of a transaction it is sent over any free connection, because its own may belong to a transaction by
  // now, and unprepared, because its responses would be mixed up with those of statements in the pipeline. Before, parameters were
  // serialized twice, so that `true` was stored as false.
  {
    file: 'connection.js',
    was: '          : query.prepared && retryRoutines.has(errorResponse.routine)\n',
    is: `          : query.prepared && retryRoutines.has(errorResponse.routine) && (delete statements[query.signature], x[5] === 73)
`,
  },
  {
    file: 'connection.js',
    was: '    q.retried = error\n    execute(q)\n',
    is: '    q.retried = error\n    q.options.prepare = false\n    q.handler(q)\n',
  },
  {
    file: 'connection.js',
    was: '    q.parameters = q.parameters || parameters\n',
    is: '    q.parameters = parameters\n',
  },
  // A statement outside of a transaction that lost a deadlock has changed nothing: it is retried once, over any free connection.
  // The retry waits, because PostgreSQL could grant it the lock before the winner has woken up.
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
  // A thread that was busy for longer than `connect_timeout`, or was suspended, looked at its timers before its sockets, and gave up a
  // connection whose responses had already arrived. The time is counted in ten steps: a busy period counts as one at most.
  {
    file: 'connection.js',
    was: '      , connectTimer = timer(connectTimedOut, options.connect_timeout)\n',
    is: `      , connectSteps = 10
      , connectTimer = timer(connectStep, options.connect_timeout / connectSteps)
`,
  },
  {
    file: 'connection.js',
    was: '    connectTimer.start()\n\n    if (options.socket)',
    is: '    connectTimer.start(connectSteps - 1)\n\n    if (options.socket)',
  },
  {
    file: 'connection.js',
    was: '  function connectTimedOut() {\n',
    is: `  function connectStep(left) {
    left > 0 ? connectTimer.start(left - 1) : connectTimedOut()
  }

  function connectTimedOut() {
`,
  },
  // The driver forgot a timer that was started again by its own function, and could not cancel it.
  {
    file: 'connection.js',
    was: '    fn.apply(null, args)\n    timer = null\n',
    is: '    timer = null\n    fn.apply(null, args)\n',
  },
  // When COPY TO STDOUT was done while its reader was behind, the socket stayed paused, and the next statement was never answered
  // (upstream 917).
  {
    file: 'connection.js',
    was: '    stream && stream.push(null)\n    stream = null\n',
    is: '    stream && stream.push(null)\n    stream = null\n    socket && socket.resume()\n',
  },
  // When the server refused the rows of COPY FROM STDIN after their end, or the connection was lost then, the writer waited forever
  // (upstream 1173).
  {
    file: 'connection.js',
    was: '    stream && (stream.destroy(err), stream = null)\n',
    is: '    stream && (stream.destroy(err), stream = null)\n    final && (final(err), final = null)\n',
  },
  // Every statement has a result, and defining its five properties took 3 to 5 µs, a tenth of a small statement. As private fields
  // with accessors they are not enumerable either, and take a tenth of that.
  {
    file: 'result.js',
    was: `  constructor() {
    super()
    Object.defineProperties(this, {
      count: { value: null, writable: true },
      state: { value: null, writable: true },
      command: { value: null, writable: true },
      columns: { value: null, writable: true },
      statement: { value: null, writable: true }
    })
  }
`,
    is: ['count', 'state', 'command', 'columns', 'statement']
      .map(
        (name) =>
          `  #${name} = null\n  get ${name}() { return this.#${name} }\n  set ${name}(x) { this.#${name} = x }\n`,
      )
      .join(''),
  },
  // Every statement and every fragment assigned two function literals to properties of its own. V8 creates such a function in its old
  // space, because it expects a method of a prototype. So each of them, and with it the statement, its parameters and its result, stayed until
  // the next full garbage collection: a fifth of all objects of a server under load, and each collection of young objects took 10 ms
  // instead of 1.
  {
    file: 'query.js',
    was: `    this.resolve = x => (this.active = false, resolve(x))
    this.reject = x => (this.active = false, reject(x))
`,
    is: `    this.fulfil = resolve
    this.fail = reject
`,
  },
  {
    file: 'query.js',
    was: '  get origin() {\n',
    is: `  resolve(x) {
    this.active = false
    this.fulfil(x)
  }

  reject(x) {
    this.active = false
    this.fail(x)
  }

  get origin() {
`,
  },
];

const hook = registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    const own = patches.filter(({ file }) => url.endsWith(`/postgres/src/${file}`));
    if (own.length === 0) return loaded;
    const source =
      typeof loaded.source === 'string' ? loaded.source : new TextDecoder().decode(loaded.source ?? undefined);
    return { ...loaded, source: own.reduce(apply, source) };
  },
});

function apply(source: string, { was, is }: Patch): string {
  const [before, after, ...more] = source.split(was);
  if (before === undefined || after === undefined || more.length > 0)
    throw new Error('postgres.js has changed: check which patches in platform/database/postgres.ts are still needed');
  return before + is + after;
}

const { default: postgres } = await import('postgres');
hook.deregister();

export default postgres;
