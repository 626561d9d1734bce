import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { request } from 'node:https';
import { after, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { readConfig } from '../../../packages/server/src/config.ts';
import { selfSigned } from '../../support/network/certificate.ts';
import { engage, say, sendText, type Engaged, type TokenHolder } from '../../support/people/chat.ts';
import { contents, isMessage, openFeed } from '../../support/people/feed.ts';
import { forThisFile } from '../../support/fixture.ts';
import { freePort } from '../../support/network/free-port.ts';
import { startHaproxy, startNginx } from '../../support/network/reverse-proxies.ts';
import { call, startTestServer, until } from '../../support/server.ts';
import { linkOf, sessionsPath } from '../../support/people/sign-in.ts';
import { expectStatus } from '../../support/world.ts';

/** The recipes of `ops`, in real proxies: only ports, paths of files and the time of a reload are replaced. */
const trusted = getCACertificates();
setDefaultCACertificates([...trusted, selfSigned.cert]);
after(() => setDefaultCACertificates(trusted));

const recipes = [
  { recipe: 'ops/nginx/usher.conf', start: startNginx, path: '' },
  { recipe: 'ops/haproxy/haproxy.cfg', start: startHaproxy, path: '' },
  { recipe: 'ops/nginx/usher-under-path.conf', start: startNginx, path: '/usher' },
  { recipe: 'ops/haproxy/haproxy-under-path.cfg', start: startHaproxy, path: '/usher' },
];

/** A proxy that is reloaded may refuse a request on an old connection (GOAWAY). Under the same id, repeating it is safe. */
async function sendSurely(chat: Engaged, who: TokenHolder, content: string): Promise<void> {
  const id = randomUUID();
  await until(async () => {
    const answer = await say(chat, who, content, id).catch((error: unknown) => {
      assert.ok(error instanceof TypeError, String(error));
      return null;
    });
    if (answer !== null) expectStatus(answer, 200);
    return answer !== null;
  });
}

for (const { recipe, start, path } of recipes) {
  const port = await freePort();
  const signInLimit = 5;
  /** Has no limit on sign-ins, unlike the server behind the proxy, which shares its database. */
  const direct = await forThisFile(startTestServer());
  const chat = await engage(direct);
  const { visitor, operator } = chat;
  const usher = await forThisFile(
    startTestServer(
      { trustProxy: 1, publicUrl: `https://localhost:${port}${path}`, rateLimitSignIn: signInLimit },
      direct.database.address,
    ),
  );
  const proxy = await forThisFile(start({ recipe, usher, port }));
  const server = { ...usher, url: `${proxy.origin}${path}` };

  test(`${recipe}: a feed resumes without a gap when the proxy is reloaded`, async () => {
    const proxied = { ...chat, server };
    const feed = await openFeed(server, { token: operator.token });
    await sendText(proxied, visitor, 'one');
    await feed.until(isMessage('one'));
    proxy.reload();
    const sent = ['two', 'three', 'four'];
    for (const content of sent) await sendSurely(proxied, visitor, content);
    await feed.ended;
    await sendText(proxied, visitor, 'five');
    await using back = await openFeed(server, { token: operator.token, lastId: feed.lastId() });
    await back.until(isMessage('five'));
    assert.deepEqual([...contents(feed), ...contents(back)], ['one', ...sent, 'five']);
  });

  test(`${recipe}: the console's pages and their files load`, async () => {
    const start = await fetch(`${server.url}/`);
    assert.equal(start.url, `${server.url}/console/`);
    for (const page of [start, await fetch(`${server.url}/docs`), await fetch(`${server.url}/demo`)]) {
      const files = filesOf(await page.text());
      assert.notEqual(files.length, 0, page.url);
      for (const file of files) {
        const answer = await fetch(new URL(file, page.url));
        assert.equal(answer.status, 200, `${file} of ${page.url}`);
        await answer.body?.cancel();
      }
    }
  });

  test(`${recipe}: the links in answers lead to Usher`, async () => {
    const { admin } = chat.own;
    const { body } = expectStatus(await call(server, 'GET /operators?per_page=1', { token: admin }), 200);
    const [{ href, id }] = body.operators;
    const answer = await call(server, `POST /operators/${id}/invitations`, { token: admin });
    const { headers } = expectStatus(answer, 201);
    const links = [href, body.next_page, answer.body.url, `${proxy.origin}${headers.get('location')}`];
    assert.deepEqual(
      links.filter((link) => !link.startsWith(`${server.url}/`)),
      [],
    );
    const redirected = await call(server, 'GET /console');
    const target = new URL(redirected.headers.get('location') ?? '', `${server.url}/console`);
    assert.equal(target.href, `${server.url}/console/`);
    const inside = expectStatus(await call(usher, 'GET /operators?per_page=1', { token: admin }), 200);
    assert.ok(
      inside.body.next_page.startsWith(`${usher.url}/operators?`),
      'a caller of the port of Usher needs no path',
    );
    const { servers } = (await call(server, 'GET /openapi.json')).body;
    assert.equal(servers[0].url, path === '' ? '/' : path);
  });

  test(`${recipe}: the proxy refuses bodies above 26 MiB and does not publish /metrics`, async () => {
    assert.equal(await statusOfUpload(`${server.url}/engagements/x/files`, 26 * 1024 * 1024 + 1), 413);
    for (const metrics of ['/metrics', '/%6detrics']) assert.equal((await call(server, `GET ${metrics}`)).status, 404);
    assert.equal((await call(usher, 'GET /metrics')).status, 200);
  });

  test(`${recipe}: a session's cookie is for https and for Usher's path, and a forged address has no effect`, async () => {
    const body = { link: await linkOf(server, operator.id) };
    const headers = { origin: proxy.origin };
    const answer = expectStatus(await call(server, `POST ${sessionsPath}`, { body, headers }), 201);
    const cookies = answer.headers.getSetCookie();
    assert.equal(cookies.length, 2);
    for (const cookie of cookies)
      assert.match(cookie, new RegExp(`; Path=${path}${sessionsPath}; HttpOnly; SameSite=Strict; Secure$`));
    const cookie = cookies[0]?.split(';', 1)[0] ?? '';
    const token = `POST ${sessionsPath}/current/token`;
    expectStatus(await call(server, token, { headers: { ...headers, cookie } }), 200);

    const statuses: number[] = [];
    for (let attempt = 0; attempt <= signInLimit; attempt += 1) {
      const forged = { 'x-forwarded-for': `198.51.100.${attempt}` };
      const key = { api_key_id: 'a', api_key_secret: 'b' };
      const { status } = await call(server, 'POST /operator_authentication/tokens', { body: key, headers: forged });
      statuses.push(status);
    }
    assert.deepEqual([statuses[0], statuses.at(-1)], [401, 429]);
  });
}

test('the path of USHER_PUBLIC_URL must be plain, because cookies and pages contain it', () => {
  const read = (url: string): string => readConfig({ USHER_PUBLIC_URL: url }).publicUrl;
  assert.equal(read('https://example.com/'), 'https://example.com');
  assert.equal(read('https://example.com/our-desk/usher_2/'), 'https://example.com/our-desk/usher_2');
  for (const path of ['/a;b', '/a&b', '//a', "/a'b", '/a,b'])
    assert.throws(() => read(`https://example.com${path}`), /^SettingError: The path of USHER_PUBLIC_URL/, path);
});

/** The files of Usher that a page loads or links to. */
function filesOf(html: string): string[] {
  return [...html.matchAll(/ (?:src|href)="([^"#][^"]*)"/g)].map(([, url = '']) => url);
}

/** The status of an upload that announces its length and sends nothing, so that the answer is the proxy's. */
async function statusOfUpload(url: string, bytes: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', agent: false, headers: { 'content-length': bytes } }, (answer) => {
      resolve(answer.statusCode ?? 0);
      answer.destroy();
    });
    sent.on('error', reject);
    sent.flushHeaders();
  });
}
