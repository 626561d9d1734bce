import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { ScanFault, scanWithClamd, type Verdict } from '../../../packages/server/src/engagements/files/clamd.ts';
import { connect } from '../../../packages/server/src/platform/database/database.ts';
import {
  eicar,
  detectEicar,
  realClamd,
  startFakeClamd,
  startRealClamd,
  type Behaviour,
} from '../../support/services/clamd.ts';
import { startCluster } from '../../support/processes/cluster.ts';
import {
  fileForm,
  listFiles,
  filesOnDisk,
  postFile,
  uploadFile,
  changeSite,
  startFileEngagement,
  type FileEngagement,
} from '../../support/people/files.ts';
import { forThisFile } from '../../support/fixture.ts';
import { freePort } from '../../support/network/free-port.ts';
import { call, startTestServer, until, type Json, type TestServer } from '../../support/server.ts';
import { hangMs } from '../../support/slowness.ts';
import { eventsOf, expectStatus } from '../../support/world.ts';

/** Scans by clamd: with a fake that can misbehave in every way, and with the real one. */
const clamd = await forThisFile(startFakeClamd());
const server = await forThisFile(startTestServer({ scanner: { kind: 'clamd', host: clamd.host, port: clamd.port } }));

async function stateOf(reached: { url: string }, talk: FileEngagement, id: string): Promise<string> {
  return (await listFiles(reached, talk)).find((file) => file.id === id)?.state;
}

async function resultsIn(reached: Parameters<typeof eventsOf>[0], talk: FileEngagement): Promise<Json[]> {
  const events = await eventsOf(reached, talk.account);
  return events.flatMap(({ security_scan_result }) => security_scan_result ?? []);
}

/** Makes postponed scans due now. */
async function makeDue({ database: { sql } }: Pick<TestServer, 'database'>): Promise<void> {
  await sql`UPDATE files SET scan_due_at = now() WHERE state = 'pending'`;
}

test('an uploaded file is scanned in the background, with one event; a clean file can be downloaded, an infected one is removed', async () => {
  const talk = await startFileEngagement(server);
  const answer = expectStatus(await postFile(server, talk, fileForm('good')), 200);
  assert.equal(answer.body.security_scanning_required, true);
  const clean: string = answer.body.file_id;
  await until(async () => (await stateOf(server, talk, clean)) === 'clean');
  const got = await call(server, `GET ${talk.path}/${clean}`, { token: talk.operator.token });
  assert.equal(got.body, 'good');
  const infected = await uploadFile(server, talk, fileForm(`before ${eicar}`));
  await until(async () => (await stateOf(server, talk, infected)) === 'infected');
  await until(() => !filesOnDisk(server.dataDir).includes(infected));
  const refused = await call(server, `GET ${talk.path}/${infected}`, { token: talk.operator.token });
  assert.equal(expectStatus(refused, 409).body.error, 'file_not_clean');
  assert.deepEqual(await resultsIn(server, talk), [
    { file_id: clean, result: 'clean' },
    { file_id: infected, result: 'infected' },
  ]);
  const said = { token: talk.account.admin, body: { result: 'clean' } };
  assert.equal(
    expectStatus(await call(server, `PUT /files/${infected}/security_scan`, said), 409).body.error,
    'scan_not_manual',
  );
  assert.ok(server.logged.some((line) => line.includes('Test.Bad') && line.includes(infected)));
});

test('a committed result is announced to the other processes', async (t) => {
  // The scanning process serves no changing requests, so its only hint is for the result.
  await using taking = await startTestServer({ scanner: { kind: 'manual' } });
  const own = await startFakeClamd();
  const hinted = new Set<string>();
  const onNotification = (_channel: string, payload: string): void => {
    const [, by] = /^told:\S+ (.+)$/.exec(payload) ?? [];
    if (by !== undefined) hinted.add(by);
  };
  const listener = connect(taking.database.address, { max: 1, onNotification });
  t.after(async () => listener.end());
  await listener`LISTEN usher_changes`;
  const talk = await startFileEngagement(taking);
  const id = await uploadFile(taking, talk, fileForm('x'));
  await until(() => hinted.size === 1);
  const scanner = { kind: 'clamd', host: own.host, port: own.port } as const;
  await using scanning = await startTestServer({ scanner, dataDir: taking.dataDir }, taking.database.address);
  await until(() => hinted.size === 2);
  assert.equal(await stateOf(scanning, talk, id), 'clean');
  await own.close();
});

const timeouts = { connectMs: 1_000, scanMs: 300 };
async function scanned(
  behave: Behaviour,
  bytes: Iterable<Buffer> = [Buffer.from('a'), Buffer.from('bc')],
): Promise<Verdict> {
  const own = await startFakeClamd(behave);
  try {
    return await scanWithClamd({ ...own, timeouts }, Readable.from(bytes), new AbortController().signal);
  } finally {
    await own.close();
  }
}

test('clamd receives the bytes unchanged, and its answers OK and FOUND are the verdict', async () => {
  const files: Buffer[] = [];
  const keep = (says: string): Behaviour => ({
    onFile: (file, answer) => {
      files.push(file);
      answer(says);
    },
  });
  assert.deepEqual(await scanned(keep('stream: OK\0')), { result: 'clean' });
  assert.deepEqual(await scanned(keep('stream: Win.Test-1 FOUND\0')), { result: 'infected', signature: 'Win.Test-1' });
  assert.deepEqual(
    files.map((file) => file.toString()),
    ['abc', 'abc'],
  );
});

const faults: readonly [what: string, behave: Behaviour, says: RegExp][] = [
  ['hangs after the file', { onFile: () => undefined }, /did not answer within 300 ms/],
  ['hangs from the start', { onConnect: (socket) => void socket.pause() }, /did not answer within 300 ms/],
  ['resets', { onConnect: (socket) => void socket.resetAndDestroy() }, /failed|closed/],
  ['closes', { onFile: (_file, _answer, socket) => void socket.end() }, /closed the connection without an answer/],
  ['closes in the middle of its answer', { onFile: (_file, answer) => answer('stream: O') }, /without an answer/],
  ['says ERROR', { onFile: (_file, answer) => answer('stream: lstat() failed ERROR\0') }, /lstat\(\) failed ERROR/],
  ['says garbage', { onFile: (_file, answer) => answer('\u0001\u0002\0') }, /answered "\\u0001\\u0002"/],
  ['says OK about another stream', { onFile: (_file, answer) => answer('other: OK\0') }, /answered "other: OK"/],
  [
    'sends much without an answer',
    { onFile: (_file, answer) => answer('x'.repeat(10_000)) },
    /more than 4096 bytes without an answer/,
  ],
  ['says OK too early', { onConnect: (socket) => void socket.write('stream: OK\0') }, /answered "stream: OK"/],
  [
    'has a smaller limit',
    { onConnect: (socket) => void socket.end('INSTREAM size limit exceeded. ERROR\0') },
    /StreamMaxLength/,
  ],
];
for (const [what, behave, says] of faults) {
  test(`a clamd that ${what} gives no verdict`, async () => {
    const pieces = function* (): Generator<Buffer> {
      for (let piece = 0; piece < 400; piece += 1) yield Buffer.alloc(65_536);
    };
    const few = [Buffer.from('abc')];
    const isEarly = behave.onConnect !== undefined;
    await assert.rejects(scanned(behave, isEarly ? pieces() : few), (error: Error) => {
      assert.ok(error instanceof ScanFault, error);
      assert.match(error.message, says);
      return true;
    });
  });
}

test('a scan fails if clamd is not running, or if the scan is canceled', async () => {
  const port = await freePort();
  const signal = new AbortController().signal;
  await assert.rejects(scanWithClamd({ host: '127.0.0.1', port, timeouts }, Readable.from([]), signal), /ECONNREFUSED/);
  const own = await startFakeClamd({});
  const canceled = new AbortController();
  const scan = scanWithClamd(own, Readable.from([Buffer.from('x')]), canceled.signal);
  await until(() => own.files.length === 1);
  canceled.abort();
  await assert.rejects(scan, /canceled/);
  await own.close();
});

test('files stay pending while clamd is down or misbehaves, and are scanned when it works again', async () => {
  const port = await freePort();
  await using own = await startTestServer({ scanner: { kind: 'clamd', host: '127.0.0.1', port } });
  const talk = await startFileEngagement(own);
  const ids = [await uploadFile(own, talk, fileForm('one')), await uploadFile(own, talk, fileForm(eicar))];
  const failures = (): number => own.logged.filter((line) => line.includes('could not scan a file')).length;
  await until(() => failures() >= 2);
  assert.ok(own.logged.some((line) => line.includes('ECONNREFUSED')));
  const mad = await startFakeClamd({ onFile: (_file, answer) => answer('what?\0') }, port);
  await makeDue(own);
  await until(() => mad.files.length >= 2);
  assert.deepEqual(new Set((await listFiles(own, talk)).map(({ state }) => state)), new Set(['pending']));
  const [row] = await own.database.sql`SELECT min(scan_attempts) AS attempts FROM files`;
  assert.ok(row?.['attempts'] >= 2);
  mad.behaviour = detectEicar;
  await makeDue(own);
  await until(async () => (await stateOf(own, talk, ids[0] ?? '')) === 'clean');
  await until(async () => (await stateOf(own, talk, ids[1] ?? '')) === 'infected');
  assert.equal((await resultsIn(own, talk)).length, 2);
  const { body: metrics } = await call(own, 'GET /metrics');
  assert.match(metrics, /^usher_file_scans_total\{result="failed"\} [2-9]/m);
  assert.match(metrics, /^usher_file_scans_total\{result="clean"\} 1$/m);
  assert.match(metrics, /^usher_files_pending 0$/m);
  await mad.close();
});

test('a failed scan is retried', async () => {
  const talk = await startFileEngagement(server);
  let scans = 0;
  clamd.behaviour = {
    onFile: (file, answer, socket) => {
      scans += 1;
      if (scans === 1) socket.destroy();
      else detectEicar.onFile?.(file, answer, socket);
    },
  };
  const id = await uploadFile(server, talk, fileForm('again'));
  await until(async () => (await stateOf(server, talk, id)) === 'clean', 10_000);
  assert.equal(scans, 2);
  clamd.behaviour = detectEicar;
});

test('several processes scan in parallel, and each file is scanned once', async (t) => {
  const own = await startFakeClamd();
  t.after(async () => own.close());
  const scanner = { kind: 'clamd', host: own.host, port: own.port } as const;
  await using one = await startTestServer({ scanner });
  await using two = await startTestServer({ scanner, dataDir: one.dataDir }, one.database.address);
  const talk = await startFileEngagement(one);
  const ids: string[] = [];
  // A caller may upload ten files to a process at the same time.
  while (ids.length < 40) {
    const batch = Array.from({ length: 20 }, async (_, each) =>
      uploadFile(each % 2 === 0 ? one : two, talk, fileForm(`file ${ids.length + each}`)),
    );
    ids.push(...(await Promise.all(batch)));
  }
  await until(async () => (await listFiles(two, talk)).every(({ state }) => state === 'clean'), 10_000);
  const scannedIds: string[] = (await resultsIn(two, talk)).map(({ file_id }) => file_id);
  assert.deepEqual(scannedIds.toSorted(), ids.toSorted());
  const expected = Array.from({ length: 40 }, (_, each) => `file ${each}`);
  assert.deepEqual(own.files.map(String).toSorted(), expected.toSorted());
});

test('of two different results for a file, only the first is stored and sent', async () => {
  const answers: ((text: string) => void)[] = [];
  const own = await startFakeClamd({ onFile: (_file, answer) => void answers.push(answer) });
  const scanner = { kind: 'clamd', host: own.host, port: own.port } as const;
  await using one = await startTestServer({ scanner });
  await using two = await startTestServer({ scanner, dataDir: one.dataDir }, one.database.address);
  const talk = await startFileEngagement(one);
  const id = await uploadFile(one, talk, fileForm('doubtful'));
  await until(() => answers.length === 1);
  await makeDue(two);
  await until(() => answers.length === 2);
  for (const [each, answer] of answers.entries()) answer(each === 0 ? 'stream: OK\0' : 'stream: Test.Bad FOUND\0');
  await until(async () => (await stateOf(two, talk, id)) !== 'pending');
  await until(() => own.connections.size === 0);
  // The late result sends no event. A file that is scanned afterwards shows that the scan is done.
  const next = await uploadFile(two, talk, fileForm('next'));
  await until(() => answers.length === 3);
  answers[2]?.('stream: OK\0');
  await until(async () => (await stateOf(two, talk, next)) === 'clean');
  assert.deepEqual(await resultsIn(two, talk), [
    { file_id: id, result: await stateOf(two, talk, id) },
    { file_id: next, result: 'clean' },
  ]);
  await own.close();
});

test('a server that stops releases the files it was scanning', async () => {
  const own = await startFakeClamd({});
  const scanner = { kind: 'clamd', host: own.host, port: own.port } as const;
  await using reader = await startTestServer({ scanner: { kind: 'manual' } });
  const one = await startTestServer({ scanner, dataDir: reader.dataDir }, reader.database.address);
  const talk = await startFileEngagement(reader);
  const id = await uploadFile(one, talk, fileForm('held'));
  await until(() => own.files.length === 1);
  const dueIn = async (): Promise<number> => {
    const [row] = await reader.database.sql`
      SELECT extract(epoch FROM scan_due_at - now())::double precision AS sec FROM files WHERE id = ${id}`;
    return row?.['sec'];
  };
  assert.ok((await dueIn()) > 100, 'it has a lease');
  await one[Symbol.asyncDispose]();
  assert.ok((await dueIn()) <= 0, 'and gives it back');
  await own.close();
});

test(
  'after SIGKILL during a scan, another process takes over when the lease expires',
  { timeout: hangMs },
  async () => {
    const own = await startFakeClamd({});
    await using cluster = await startCluster(1, { USHER_SCANNER: `clamd://${own.host}:${own.port}` });
    const [node] = cluster.nodes;
    assert.ok(node);
    const talk = await startFileEngagement(cluster.reach(node));
    const id = await uploadFile(node, talk, fileForm('orphan'));
    await until(() => own.files.length === 1);
    await node.stop('SIGKILL');
    own.behaviour = detectEicar;
    const next = cluster.reach(await cluster.start());
    assert.equal(await stateOf(next, talk, id), 'pending');
    await makeDue(cluster);
    await until(async () => (await stateOf(next, talk, id)) === 'clean');
    assert.deepEqual(await resultsIn(next, talk), [{ file_id: id, result: 'clean' }]);
    await own.close();
  },
);

test(
  'the real clamd finds a known signature, also in a file of 25 MiB',
  { timeout: hangMs, skip: realClamd() === null && 'clamd is not installed: apt-get install clamav-daemon' },
  async () => {
    const program = realClamd() ?? '';
    const real = await startRealClamd(program);
    await using own = await startTestServer({ scanner: { kind: 'clamd', host: '127.0.0.1', port: real.port } });
    try {
      const talk = await startFileEngagement(own);
      await changeSite(own, talk.account, { allowed_file_content_types: ['text/plain', 'application/octet-stream'] });
      const large = new Uint8Array(25 * 1024 * 1024);
      large.set(Buffer.from(eicar), large.length - 200);
      const expected = {
        [await uploadFile(own, talk, fileForm('Hello'))]: 'clean',
        [await uploadFile(own, talk, fileForm(eicar))]: 'infected',
        [await uploadFile(own, talk, fileForm(new Uint8Array(25 * 1024 * 1024), 'zeros'))]: 'clean',
        [await uploadFile(own, talk, fileForm(large, 'large'))]: 'infected',
      };
      await until(async () => (await listFiles(own, talk)).every(({ state }) => state !== 'pending'), 60_000);
      const found = Object.fromEntries((await listFiles(own, talk)).map(({ id, state }) => [id, state]));
      assert.deepEqual(found, expected);
      assert.ok(own.logged.some((line) => line.includes('Test.Eicar')));
    } finally {
      await real.stop();
    }
    const small = await startRealClamd(program, '1M');
    try {
      const bytes = Readable.from([Buffer.alloc(1024 * 1024), Buffer.alloc(1024 * 1024)]);
      const scan = scanWithClamd({ host: '127.0.0.1', port: small.port }, bytes, new AbortController().signal);
      await assert.rejects(scan, /StreamMaxLength/);
    } finally {
      await small.stop();
    }
  },
);
