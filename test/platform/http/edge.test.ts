import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { errors } from '../../../packages/server/src/platform/errors.ts';
import { openWorld } from '../../support/fixture.ts';
import { call, startTestServer, type Answer } from '../../support/server.ts';
import { hangMs } from '../../support/slowness.ts';
import { makeAccount, makeTeam } from '../../support/world.ts';

const { server, account } = await openWorld();

/** D7.3: the members of every error. */
function assertProblem(answer: Answer, code: keyof typeof errors): void {
  const { status, title } = errors[code];
  assert.equal(answer.status, status, JSON.stringify(answer.body));
  assert.match(answer.headers.get('content-type') ?? '', /^application\/problem\+json/);
  const { detail, details, request_id: requestId, ...rest } = answer.body;
  assert.deepEqual(rest, { type: `/docs#error-${code}`, title, status, error: code, message: detail });
  assert.ok(detail.length > 10);
  assert.ok(Array.isArray(details));
  assert.equal(requestId, answer.headers.get('x-request-id') ?? requestId);
}

/** Sends raw bytes, for requests that no HTTP client would send. */
async function raw(bytes: string | Buffer): Promise<Answer> {
  const { hostname, port } = new URL(server.url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.write(bytes);
  const answer = await text(socket);
  const [head = '', body = ''] = answer.split('\r\n\r\n', 2);
  const [start = '', ...lines] = head.split('\r\n');
  const headers = new Headers(
    lines.map((line): [string, string] => [line.split(': ', 1)[0] ?? '', line.slice(line.indexOf(': ') + 2)]),
  );
  return { status: Number(start.split(' ')[1]), headers, body: JSON.parse(body) };
}

test('D7.3 every error is a problem document, including errors outside of routes', async (t) => {
  const token = account.admin;
  const json = { 'content-type': 'application/json' };
  const cases: [string, keyof typeof errors, () => Promise<Answer>][] = [
    ['unknown route', 'not_found', async () => call(server, 'GET /nowhere', { token })],
    ['unknown route without a token', 'not_found', async () => call(server, 'POST /nowhere/at/all')],
    ['wrong method', 'method_not_allowed', async () => call(server, 'DELETE /sites', { token })],
    ['malformed JSON', 'malformed_json', async () => call(server, 'POST /sites', { token, body: '{"name":' })],
    [
      'wrong content type',
      'unsupported_media_type',
      async () =>
        call(server, 'POST /sites', {
          token,
          body: 'name=x',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        }),
    ],
    [
      'too large',
      'body_too_large',
      async () => call(server, 'POST /sites', { token, body: { name: 'x'.repeat(2 ** 20) } }),
    ],
    [
      '10 MB',
      'body_too_large',
      async () => call(server, 'POST /sites', { token, body: { name: 'x'.repeat(10 * 2 ** 20) } }),
    ],
    ['not UTF-8', 'malformed_json', async () => raw(post('/sites', Buffer.from([0x22, 0xff, 0x22]), token))],
    ['no token', 'unauthenticated', async () => call(server, 'GET /sites')],
    [
      'odd scheme',
      'unauthenticated',
      async () => call(server, 'GET /sites', { headers: { authorization: 'Basic eDp5' } }),
    ],
    ['empty scheme', 'unauthenticated', async () => call(server, 'GET /sites', { headers: { authorization: 'x' } })],
    ['no Host header', 'malformed_request', async () => raw('GET /healthz HTTP/1.1\r\nconnection: close\r\n\r\n')],
    ['bad escape in the path', 'malformed_request', async () => raw(get('/sites/%zz'))],
    ['NUL in the path', 'malformed_request', async () => call(server, 'GET /sites/%00', { token })],
    ['id that is none', 'not_found', async () => call(server, 'GET /sites/not-an-id', { token })],
    ['path of 10,000 characters', 'not_found', async () => call(server, `GET /sites/${'x'.repeat(10_000)}`, { token })],
    ['not HTTP', 'malformed_request', async () => raw('how are you\r\n\r\n')],
    ['headers beyond the limit', 'headers_too_large', async () => raw(get('/healthz', `x: ${'y'.repeat(20_000)}\r\n`))],
    [
      '1,000 headers',
      'headers_too_large',
      async () =>
        raw(get('/healthz', Array.from({ length: 1_000 }, (_, i) => `x-${i}: ${'y'.repeat(20)}\r\n`).join(''))),
    ],
    [
      'two lengths',
      'malformed_request',
      async () => raw(`POST /sites HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{}`),
    ],
    [
      'empty credentials',
      'invalid_request',
      async () => call(server, 'POST /operator_authentication/tokens', { headers: json }),
    ],
    [
      'wrong credentials',
      'invalid_credentials',
      async () =>
        call(server, 'POST /operator_authentication/tokens', { body: { api_key_id: 'x', api_key_secret: 'y' } }),
    ],
    [
      'malformed If-Match',
      'malformed_request',
      async () =>
        call(server, `PATCH /sites/${account.siteId}`, { token, body: { name: 'x' }, headers: { 'if-match': 'one' } }),
    ],
    [
      'malformed Idempotency-Key',
      'malformed_request',
      async () => call(server, 'POST /sites', { token, body: { name: 'x' }, headers: { 'idempotency-key': 'a b' } }),
    ],
  ];
  for (const [name, code, ask] of cases) await t.test(name, async () => assertProblem(await ask(), code));
});

function get(path: string, headers = ''): string {
  return `GET ${path} HTTP/1.1\r\nhost: localhost\r\n${headers}connection: close\r\n\r\n`;
}

function post(path: string, body: Buffer, token: string): Buffer {
  const head = `POST ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}

test('D7.4 405 lists the allowed methods', async () => {
  const answer = await call(server, `PUT /sites/${account.siteId}`, { token: account.admin });
  assertProblem(answer, 'method_not_allowed');
  assert.equal(answer.headers.get('allow'), 'DELETE, GET, HEAD, PATCH');
});

test('D7.4 422 lists every violation at once, each with a pointer', async () => {
  const body = {
    name: '',
    time_zone: 'Mars/Olympus',
    reactive_call_timeout: '30',
    allowed_origins: ['https://ok.example', 'https://with.example/path'],
    allowed_file_senders: { operator: true, 'a/b~c': 1 },
    surprise: 1,
  };
  const answer = await call(server, 'POST /sites', { token: account.admin, body });
  assertProblem(answer, 'invalid_request');
  assert.deepEqual(answer.body.details.toSorted(byAttribute), [
    { attribute: '/allowed_file_senders/a~1b~0c', detail: 'is not a known field' },
    { attribute: '/allowed_file_senders/visitor', detail: 'is required' },
    { attribute: '/allowed_origins/1', detail: 'must be an origin, such as https://www.example.com, without a path' },
    { attribute: '/name', detail: 'is required' },
    { attribute: '/reactive_call_timeout', detail: 'must be integer or null' },
    { attribute: '/surprise', detail: 'is not a known field' },
    { attribute: '/time_zone', detail: 'must be the name of an IANA time zone, such as Europe/Tallinn' },
  ]);
});

function byAttribute(a: { attribute: string }, b: { attribute: string }): number {
  return a.attribute < b.attribute ? -1 : 1;
}

test('values that cannot be stored are refused with a pointer, and nothing changes', async (t) => {
  const before = (await call(server, 'GET /sites', { token: account.admin })).body;
  const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
  const cases: [string, string, string][] = [
    ['NUL', '{"name":"a\\u0000b"}', '/name'],
    ['half a surrogate pair', '{"name":"\\ud800"}', '/name'],
    ['NUL in a list', '{"name":"a","addresses":["ok","\\u0000"]}', '/addresses/1'],
    ['__proto__', '{"name":"a","__proto__":{"x":1}}', ''],
    ['escaped __proto__', '{"name":"a","\\u005f_proto__":{"x":1}}', ''],
    ['deep JSON', deep(50), ''],
    ['very deep JSON', deep(100_000), ''],
    ['deep lists', `${'['.repeat(500_000)}${']'.repeat(500_000)}`, ''],
    ['a list of 1,001', JSON.stringify({ name: 'a', addresses: Array(1_001).fill('x') }), '/addresses'],
    ['a list of 400,000', JSON.stringify({ name: 'a', addresses: Array(400_000).fill(1) }), '/addresses'],
    ['null', 'null', ''],
    ['a number', '1', ''],
    ['a list', '[]', ''],
  ];
  for (const [name, body, attribute] of cases) {
    await t.test(name, async () => {
      const answer = await call(server, 'POST /sites', { token: account.admin, body });
      assertProblem(answer, 'invalid_request');
      assert.equal(answer.body.details[0]?.attribute, attribute);
    });
  }
  assert.deepEqual((await call(server, 'GET /sites', { token: account.admin })).body, before);
});

test('D7.8, D7.11 unusual but valid forms of requests are accepted', async (t) => {
  const token = account.admin;
  const team = await makeTeam(server, account, account.siteId);
  await t.test('a JSON content type and no body counts as {}', async () => {
    const headers = { 'content-type': 'application/json' };
    assert.equal((await call(server, `PATCH /teams/${team}`, { token, headers })).status, 200);
    assert.equal((await call(server, `POST /operators/${account.adminId}/api_keys`, { token, headers })).status, 201);
    assert.equal((await call(server, `POST /operators/${account.adminId}/api_keys`, { token })).status, 201);
    assert.equal(
      (await call(server, `DELETE /teams/${await makeTeam(server, account, account.siteId)}`, { token, headers }))
        .status,
      204,
    );
  });
  await t.test('any Accept', async () => {
    for (const accept of ['application/vnd.salemove.v1+json', 'application/json', '*/*', 'text/html', 'nonsense']) {
      assert.equal((await call(server, 'GET /sites', { token, headers: { accept } })).status, 200);
    }
  });
  await t.test('any Expect', async () => {
    assert.equal((await raw(get('/healthz', 'expect: nonsense\r\n'))).status, 200);
  });
  await t.test('JSON by other names', async () => {
    for (const type of ['application/vnd.salemove.v1+json', 'application/json; charset=utf-8', 'Application/JSON']) {
      const headers = { 'content-type': type };
      assert.equal((await call(server, `PATCH /teams/${team}`, { token, body: { name: 'n' }, headers })).status, 200);
    }
  });
  await t.test('arrays both ways', async () => {
    const id = account.siteId;
    for (const query of [
      `site_ids[]=${id}`,
      `site_ids=${id}`,
      `site_ids[]=${id}&site_ids[]=${id}`,
      `site_ids=${id}&site_ids=${id}`,
      `site_ids%5B%5D=${id}`,
    ]) {
      const answer = await call(server, `GET /teams?${query}`, { token });
      assert.equal(answer.status, 200, query);
      assert.ok(answer.body.teams.length > 0, query);
    }
    assert.equal(
      (await call(server, `GET /teams?site_ids[]=${id}&site_ids[]=x`, { token })).body.details[0].attribute,
      '/site_ids/1',
    );
  });
  await t.test('ids in upper case', async () => {
    const answer = await call(server, `GET /sites/${account.siteId.toUpperCase()}`, { token });
    assert.equal(answer.body.id, account.siteId);
    const body = { site_id: account.siteId.toUpperCase(), name: 'Upper' };
    assert.equal((await call(server, 'POST /teams', { token, body })).body.site_id, account.siteId);
  });
  await t.test('HEAD', async () => {
    const answer = await call(server, 'HEAD /sites', { token });
    assert.equal(answer.status, 200);
    assert.equal(answer.body, '');
  });
});

test('D7.9 lists are paged, and next_page is a URL on the host that the caller used', async () => {
  const own = await makeAccount(server);
  for (let made = 0; made < 5; made += 1) await makeTeam(server, own, own.siteId);
  const seen: string[] = [];
  let path: string | null = `/teams?site_ids[]=${own.siteId}&per_page=2`;
  while (path !== null) {
    const answer = await call(server, `GET ${path}`, { token: own.admin });
    seen.push(...answer.body.teams.map((team: { id: string }) => team.id));
    const next: string | null = answer.body.next_page;
    assert.ok(next === null || next.startsWith(`${server.url}/teams?`), String(next));
    path = next === null ? null : next.slice(server.url.length);
  }
  assert.equal(seen.length, 5);
  assert.equal(new Set(seen).size, 5);
  for (const query of [
    'per_page=0',
    'per_page=1001',
    'page=0',
    'page=x',
    'page=1.5',
    `page=${'9'.repeat(400)}`,
    'page=Infinity',
  ]) {
    assertProblem(await call(server, `GET /teams?${query}`, { token: own.admin }), 'invalid_request');
  }
});

test('a forged Host header cannot change the URL of the next page', async () => {
  const { admin } = account;
  await makeTeam(server, account, account.siteId);
  await makeTeam(server, account, account.siteId);
  const answer = await raw(
    `GET /teams?per_page=1 HTTP/1.1\r\nhost: evil.example/x?\r\nauthorization: Bearer ${admin}\r\nconnection: close\r\n\r\n`,
  );
  assertProblem(answer, 'malformed_request');
});

test('D7.7 ETag and If-Match: a change of an old version is refused and changes nothing', async () => {
  const { admin: token, siteId } = account;
  const team = await makeTeam(server, account, siteId);
  const path = `/teams/${team}`;
  const first = await call(server, `GET ${path}`, { token });
  const tag = first.headers.get('etag') ?? '';
  const changed = await call(server, `PATCH ${path}`, { token, body: { name: 'Two' }, headers: { 'if-match': tag } });
  assert.equal(changed.status, 200);
  assert.notEqual(changed.headers.get('etag'), tag);
  const late = await call(server, `PATCH ${path}`, { token, body: { name: 'Three' }, headers: { 'if-match': tag } });
  assertProblem(late, 'precondition_failed');
  assert.equal(late.headers.get('etag'), changed.headers.get('etag'));
  for (const other of ['"0"', '"9999999999"', '"-1"', '"1.5"', '"x"', '""']) {
    assertProblem(
      await call(server, `DELETE ${path}`, { token, headers: { 'if-match': other } }),
      'precondition_failed',
    );
    const site = await call(server, `PATCH /sites/${siteId}`, {
      token,
      body: { name: 'x' },
      headers: { 'if-match': other },
    });
    assertProblem(site, 'precondition_failed');
  }
  assert.deepEqual((await call(server, `GET ${path}`, { token })).body, changed.body);
  const any = await call(server, `PATCH ${path}`, { token, body: { name: 'Four' }, headers: { 'if-match': '*' } });
  assert.equal(any.status, 200);
  const several = `"77", ${any.headers.get('etag') ?? ''}`;
  assert.equal((await call(server, `DELETE ${path}`, { token, headers: { 'if-match': several } })).status, 204);
});

test('of concurrent changes to one version exactly one succeeds', async () => {
  const { admin: token, siteId } = account;
  const team = await makeTeam(server, account, siteId);
  const answers = await Promise.all(
    Array.from({ length: 20 }, async (_, i) =>
      call(server, `PATCH /teams/${team}`, { token, body: { name: `N${i}` }, headers: { 'if-match': '"1"' } }),
    ),
  );
  const statuses = answers.map((answer) => answer.status);
  assert.deepEqual(
    statuses.toSorted((a, b) => a - b),
    [200, ...Array<number>(19).fill(412)],
  );
});

test('a valid x-request-id of the caller is kept and repeated in the error', async () => {
  const given = await call(server, 'GET /nowhere', { headers: { 'x-request-id': 'trace-1.2:3' } });
  assert.equal(given.headers.get('x-request-id'), 'trace-1.2:3');
  assert.equal(given.body.request_id, 'trace-1.2:3');
  const unfit = await call(server, 'GET /nowhere', { headers: { 'x-request-id': 'a b"{}' } });
  assert.match(unfit.body.request_id, /^[\da-f-]{18}-\d+$/);
});

test('every response has security headers', async () => {
  for (const path of ['/healthz', '/nowhere', '/docs']) {
    const { headers } = await call(server, `GET ${path}`);
    assert.equal(headers.get('x-content-type-options'), 'nosniff', path);
    assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'/, path);
    assert.match(headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/, path);
    for (const name of ['referrer-policy', 'x-frame-options', 'x-request-id', 'content-security-policy'])
      assert.match(
        headers.get(name) ?? '',
        /^[^,]+$/,
        `${path}: a ${name} that is sent twice would be joined by a comma`,
      );
  }
});

test('a request that the process sends to itself has the same headers', async () => {
  const sent = await call(server, 'GET /nowhere');
  const injected = await server.app.inject({ method: 'GET', url: '/nowhere' });
  const own = (names: Iterable<string>): string[] =>
    [...names].filter((name) => /^(?:content-s|x-|referrer)/.test(name)).toSorted();
  assert.deepEqual(own(Object.keys(injected.headers)), own(sent.headers.keys()));
});

test('half-open sockets get a response and are closed', { timeout: hangMs }, async () => {
  const short = await startTestServer();
  try {
    short.app.server.headersTimeout = 200;
    short.app.server.requestTimeout = 300;
    const { hostname, port } = new URL(short.url);
    const halves = [
      'GET /healthz HTTP/1.1\r\nhost: x\r\n',
      'POST /sites HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n{',
    ];
    const answers = await Promise.all(
      halves.map(async (bytes) => {
        const socket = connect({ host: hostname, port: Number(port) });
        socket.write(bytes);
        return text(socket);
      }),
    );
    assert.match(answers[0] ?? '', /^HTTP\/1\.1 408 /);
    assert.match(answers[1] ?? '', /^HTTP\/1\.1 401 /);
  } finally {
    await short[Symbol.asyncDispose]();
  }
});
