import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clearCookie, readCookie, writeCookie } from './cookie.ts';

const id = '0b5c7c4e-5d0c-4f37-9c6a-2f1f9d1f6a11';
const secret = 'x'.repeat(43);
const cookie = `usher_session=${id}.${secret}`;

test('a session cookie is read as it was written, alone or among other cookies', () => {
  const written = writeCookie({ id, secret }, 60, { secure: false, pathPrefix: '' }).split(';', 1)[0];
  assert.equal(written, cookie);
  for (const header of [cookie, `a=b; ${cookie}`, `${cookie};c=d`, `a="x"; ;${cookie}; ${cookie.replace('x', 'y')}`])
    assert.deepEqual(readCookie(header), { id, secret }, header);
});

test('a missing or malformed session cookie is ignored', () => {
  for (const header of [
    undefined,
    '',
    'usher_session',
    'usher_session=',
    `usher_session=${id}`,
    `usher_session=${id}.`,
    `usher_session=${id}.${secret}x`,
    `usher_session=${id}.${secret.slice(1)}`,
    `usher_session=${id}.${secret.slice(1)}é`,
    `usher_session=${'-'.repeat(36)}.${secret}`,
    `x${cookie}`,
    `xusher_session=${id}.${secret}`,
    `usher_session="${id}.${secret}"`,
    `${'a=b; '.repeat(2_000)}${cookie}`,
  ])
    assert.equal(readCookie(header), null, String(header));
});

test('the session cookie is hidden from scripts and other sites, and with https it is Secure', () => {
  const rest = 'Path=/operator_authentication/sessions; HttpOnly; SameSite=Strict';
  const secure = { secure: true, pathPrefix: '' };
  assert.equal(writeCookie({ id, secret }, 60, secure), `${cookie}; Max-Age=60; ${rest}; Secure`);
  assert.equal(writeCookie({ id, secret }, 60, { secure: false, pathPrefix: '' }), `${cookie}; Max-Age=60; ${rest}`);
  assert.equal(clearCookie(secure), `usher_session=; Max-Age=0; ${rest}; Secure`);
  assert.equal(readCookie(clearCookie(secure)), null);
  assert.match(
    clearCookie({ secure: true, pathPrefix: '/usher' }),
    /; Path=\/usher\/operator_authentication\/sessions;/,
  );
});
