import type { Patch } from './postgres-patch.ts';

/** What the patches add to the handle of a transaction. */
export interface Transaction {
  /** Destroys the transaction's connection: its statements are rejected as if the server had closed it. */
  abandon(): void;
  /** Sends COMMIT behind the statements under way if possible. No statement may follow. */
  sendCommit(): Promise<void>;
}

/**
 * Patches of how postgres.js begins, runs and ends a transaction.
 *
 * A usual transaction assigns no function literal to a property, as in `c.reserved = () => …`: V8 creates such a function in its old space,
 * where it stays, with everything that it refers to, until the next full garbage collection.
 */
export const transactionPatches: readonly Patch[] = [
  // BEGIN had a round trip of its own. Now the driver's query for BEGIN only reserves the connection, and BEGIN is sent with the first
  // statement. There is no Sync between them: if BEGIN fails, PostgreSQL skips the statement. The other statements wait for the response
  // to the first. A text of several statements cannot be skipped, so there BEGIN goes alone.
  //
  // The transaction waits until the statements of others on its connection are answered: what ends the transaction must not end them.
  //
  // Reserving before anything is sent also helps when BEGIN fills the pipeline: the transaction failed then, and stayed open for the
  // next user of the connection (upstream 1189).
  {
    file: 'connection.js',
    was: '    , needsTypes = options.fetch_types\n    , backendParameters',
    is: '    , needsTypes = options.fetch_types\n    , begin = null\n    , waiting = null\n    , backendParameters',
  },
  {
    file: 'connection.js',
    was: '    if (q.cancelled)\n      return\n',
    is: `    if (q.cancelled)
      return

    if (q.options.onexecute) {
      begin = q.strings[0]
      q.options.onexecute(connection)
      query ? waiting = q : q.resolve()
      return false
    }

    if (begin && q.options.simple) {
      const alone = new Query([begin], [], execute, null, { prepare: false })
      alone.resolve = () => execute(q)
      alone.reject = error => queryError(q, error)
      begin = null
      execute(alone)
      return false
    }
`,
  },
  {
    file: 'connection.js',
    was: '      build(q)\n      return write(toBuffer(q))\n',
    is: `      build(q)
      const bytes = toBuffer(q)
      q.begins = begin !== null
      q.begins && write(Begin(begin))
      begin = null
      return write(bytes)
`,
  },
  {
    file: 'connection.js',
    was: '&& (!q.options.onexecute || q.options.onexecute(connection))',
    // Nothing can be sent during a COPY, so nothing is sent after a text, which may be one.
    is: '&& !q.begins && !q.options.simple',
  },
  {
    file: 'connection.js',
    was: '  function Describe(x, name',
    is: `  function Begin(text) {
    return Buffer.concat([Parse(text, [], []), Bind([], []), b().E().str(b.N).i32(0).end()])
  }

  function Describe(x, name`,
  },
  {
    file: 'connection.js',
    was: '  function CommandComplete(x) {\n',
    is: `  function CommandComplete(x) {
    if (query.begins)
      return query.begins = false

`,
  },
  // A parameter that cannot be serialized, such as an invalid date, rejected the statement before it in the pipeline instead of its own,
  // which then waited forever.
  {
    file: 'connection.js',
    was: '      sent.length === 0 && write(Sync)\n      errored(error)\n      return true\n',
    is: `      query === q
        ? (write(Sync), errored(error))
        : (sent.remove(q), queryError(q, error))
      return true
`,
  },
  {
    file: 'connection.js',
    was: '      return // Consider opening if able and sent.length < 50\n',
    is: `      return // Consider opening if able and sent.length < 50

    if (waiting) {
      waiting.resolve()
      return waiting = null
    }
`,
  },
  // The transaction has not begun while `begin` is set: its first statement could not be serialized.
  {
    file: 'connection.js',
    was: '? !connection.reserved.release && x[5] === 73 // I',
    is: '? !connection.reserved.release && !begin && x[5] === 73 // I',
  },
  // When a transaction is over, also because BEGIN failed, its statements are rejected: the connection belongs to others.
  {
    file: 'connection.js',
    was: ': (connection.reserved = null, onopen(connection))',
    is: ': (connection.reserved.over(), connection.reserved = null, onopen(connection))',
  },
  {
    file: 'index.js',
    was: `      return await Promise.race([
        scope(`,
    is: `      move(connection, reserved)
      return await Promise.race([
        scope(`,
  },
  {
    file: 'index.js',
    was: `      c.reserved = () => queries.length
        ? c.execute(queries.shift())
        : move(c, reserved)
    }
  }

  function move(`,
    is: `      c.reserved = proceed
      c.reserved.over = over
    }

    function proceed() {
      let ready = true
      while (ready && queries.length)
        ready = connection.execute(queries.shift()) !== false
      move(connection, ready ? reserved : full)
    }

    function over() {
      connection.onclose = null
      isOver = true
      queries.length && lose(closedError())
    }

    function lose(error) {
      lost = error
      while (queries.length) queries.shift().reject(error)
    }
  }

  function closedError() {
    return Errors.connection('CONNECTION_CLOSED', options, options)
  }

  function move(`,
  },
  // `Transaction.sendCommit`: COMMIT is sent behind the statements under way. If one of them fails, PostgreSQL rolls back instead. A
  // statement that waits, or was refused by the driver, could be missing from the transaction, so then COMMIT is sent later, as usual.
  {
    file: 'index.js',
    was: '      let uncaughtError\n        , result\n',
    is: `      sql.sendCommit = sendCommit
      let uncaughtError
        , result
`,
  },
  {
    file: 'index.js',
    was: '      function savepoint(name, fn) {\n',
    is: `      async function sendCommit() {
        if (lost || isOver || uncaughtError || c.queue === full)
          return
        await (commit = sql.unsafe('commit'))
      }

      function abandon() {
        lost || isOver || c.destroy()
      }

      function savepoint(name, fn) {
`,
  },
  // If BEGIN failed, there is nothing to roll back, and its error is reported.
  {
    file: 'index.js',
    was: `      } catch (e) {
        await (name
          ? sql\`rollback to \${ sql(name) }\`
          : sql\`rollback\`
        )
`,
    is: `      } catch (e) {
        commit
          ? await commit.catch(() => undefined)
          : isOver || await (name ? sql\`rollback to \${ sql(name) }\` : sql.unsafe('rollback'))
`,
  },
  // COMMIT is sent as a text: a prepared statement may be gone. It answers ROLLBACK, and no error, if the transaction has failed.
  {
    file: 'index.js',
    was: '          : await sql`commit`\n',
    is: `          : await (commit || (commit = sql.unsafe('commit')))
        if (commit && (await commit).command !== 'COMMIT')
          throw uncaughtError || closedError()
`,
  },
  // After its connection is lost, no statement of a transaction, including COMMIT and ROLLBACK, may reach the connection that
  // replaces it; the statement would run in another transaction or in none (upstream 1155, 1216). Statements queued in the
  // transaction are rejected and not forgotten (upstream 1186).
  {
    file: 'index.js',
    was: '      , prepare = null\n',
    is: '      , prepare = null\n      , lost = null\n      , isOver = false\n      , commit = null\n',
  },
  {
    file: 'index.js',
    was: 'new Promise((_, reject) => connection.onclose = reject)',
    is: `new Promise((_, reject) => {
          connection.onclose = closed
          function closed(error) {
            lose(error)
            reject(error)
          }
        })`,
  },
  {
    file: 'index.js',
    was: '        q.catch(e => uncaughtError || (uncaughtError = e))\n',
    is: `        q.catch(e => uncaughtError || (uncaughtError = e))
        if (lost || isOver || (commit && q !== commit))
          return q.reject(lost || closedError())
`,
  },
  // Each transaction made the functions for the custom types again, in the old space.
  {
    file: 'index.js',
    was: `    Object.entries(options.types).reduce((acc, [name, type]) => {
      acc[name] = (x) => new Parameter(x, type.to)
      return acc
    }, typed)

`,
    is: '',
  },
  {
    file: 'index.js',
    was: `    function typed(value, type) {
      return new Parameter(value, type)
    }

`,
    is: '',
  },
  {
    file: 'index.js',
    was: '  const sql = Sql(handler)\n\n  Object.assign(sql, {\n',
    is: `  const typed = (value, type) => new Parameter(value, type)
  for (const [name, type] of Object.entries(options.types))
    typed[name] = x => new Parameter(x, type.to)

  const sql = Sql(handler)

  Object.assign(sql, {
`,
  },
  // Two-phase commit is not used. Its function was created in V8's old space: see above.
  {
    file: 'index.js',
    was: '      sql.prepare = x => prepare = x.replace(/[^a-z0-9$-_. ]/gi)\n',
    is: '',
  },
  // `Transaction.abandon`: the driver has no way to destroy one connection.
  {
    file: 'index.js',
    was: '      sql.savepoint = savepoint\n',
    is: '      sql.savepoint = savepoint\n      sql.abandon = abandon\n',
  },
];
