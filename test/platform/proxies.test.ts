import assert from 'node:assert/strict';
import { request } from 'node:https';
import { after, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { selfSigned } from '../support/certificate.ts';
import { engage, sendText } from '../support/chat.ts';
import { contents, isMessage, openFeed } from '../support/feed.ts';
import { forThisFile } from '../support/fixture.ts';
import { freePort } from '../support/process.ts';
import { startHaproxy, startNginx } from '../support/reverse-proxies.ts';
import { call, startTestServer } from '../support/server.ts';
import { linkOf, sessionsPath } from '../support/sign-in.ts';
import { expectStatus } from '../support/world.ts';

/** The recipes of `ops`, in real proxies: only ports, paths of files and the time of a reload are replaced. */
const trusted = getCACertificates();
setDefaultCACertificates([...trusted, selfSigned.cert]);
after(() => setDefaultCACertificates(trusted));

const first = await forThisFile(startTestServer());

const recipes = [
  { recipe: 'ops/nginx/usher.conf', start: startNginx, path: '' },
  { recipe: 'ops/haproxy/haproxy.cfg', start: startHaproxy, path: '' },
];

for (const { recipe, start, path } of recipes) {
  const port = await freePort();
  const signInLimit = 5;
  const usher = await forThisFile(
    startTestServer(
      { trustProxy: 1, publicUrl: `https://localhost:${port}${path}`, rateLimitSignIn: signInLimit },
      first.database.address,
    ),
  );
  const proxy = await forThisFile(start({ recipe, usher, port }));
  const server = { ...usher, url: `${proxy.origin}${path}` };

  test(`${recipe}: a feed resumes without a gap when the proxy is reloaded`, async () => {
    const chat = await engage(server);
    const { visitor, operator } = chat;
    const feed = await openFeed(server, { token: operator.token });
    await sendText(chat, visitor, 'one');
    await feed.until(isMessage('one'));
    proxy.reload();
    const sent = ['two', 'three', 'four'];
    for (const content of sent) await sendText(chat, visitor, content);
    await feed.ended;
    await sendText(chat, visitor, 'five');
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

  test(`${recipe}: the proxy refuses bodies above 26 MiB and does not publish /metrics`, async () => {
    assert.equal(await statusOfUpload(`${server.url}/engagements/x/files`, 26 * 1024 * 1024 + 1), 413);
    assert.equal((await call(server, 'GET /metrics')).status, 404);
    assert.equal((await call(usher, 'GET /metrics')).status, 200);
  });

  test(`${recipe}: a session's cookie is for https and for Usher's path, and a forged address has no effect`, async () => {
    const { operator } = await engage(server);
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
    assert.equal(statuses.at(-1), 429);
  });
}

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
