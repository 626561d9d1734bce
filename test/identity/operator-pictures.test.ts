import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forThisFile } from '../support/fixture.ts';
import { expectStatus, makeAvailableOperator } from '../support/world.ts';
import { engage } from '../support/people/chat.ts';
import * as made from '../support/people/picture-metadata.ts';
import { onePixel, setPicture } from '../support/people/pictures.ts';
import { call, startTestServer, until } from '../support/server.ts';

const server = await forThisFile(startTestServer());

test('a visitor sees the display name and picture of each operator, but not their name or e-mail address', async () => {
  const chat = await engage(server);
  const { own, operator, visitor, id } = chat;
  const body = { name: 'Ann Private', display_name: 'Ann' };
  expectStatus(await call(server, `PATCH /operators/${operator.id}`, { token: own.admin, body }), 200);
  const seen = async () =>
    expectStatus(await call(server, `GET /engagements/${id}`, { token: visitor.token }), 200).body;
  assert.deepEqual((await seen()).operators, [{ id: operator.id, display_name: 'Ann', picture_url: null }]);
  const picture_url = await setPicture(server, operator, operator.id);
  assert.deepEqual((await seen()).operators, [{ id: operator.id, display_name: 'Ann', picture_url }]);

  const second = await makeAvailableOperator(server, own);
  const requested = await call(server, 'POST /transfer_requests', {
    token: operator.token,
    body: { engagement_id: id, operator_id: second.id },
  });
  const { id: transfer } = expectStatus(requested, 201).body;
  const accept = { token: second.token, body: { action: 'accept' } };
  expectStatus(await call(server, `PATCH /transfer_requests/${transfer}`, accept), 200);
  const now = await seen();
  assert.equal(now.operator_id, second.id);
  const names = new Map(
    now.operators.map((each: { id: string; display_name: string }) => [each.id, each.display_name]),
  );
  assert.deepEqual(
    names,
    new Map([
      [operator.id, 'Ann'],
      [second.id, 'Somebody'],
    ]),
  );
  const text = JSON.stringify(now);
  assert.ok(!text.includes('Ann Private') && !text.includes('@test'), text);
});

test('the picture of an operator is stored without its metadata, but with its orientation', async () => {
  const { operator } = await engage(server);
  const kept = made.segment(0xe1, Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), made.turned(6)]));
  const { dirty, clean } = made.jpeg(6, kept);
  const body = { content: dirty.toString('base64') };
  const set = await call(server, `PUT /operators/${operator.id}/picture`, { token: operator.token, body });
  const got = await fetch(`${server.url}${expectStatus(set, 200).body.picture_url}`);
  assert.deepEqual(Buffer.from(await got.bytes()), clean);
});

test('a picture is public and safe to embed until it is replaced or removed', async () => {
  const { own, operator } = await engage(server);
  const path = await setPicture(server, operator, operator.id);
  const got = await fetch(`${server.url}${path}`);
  assert.equal(got.status, 200);
  assert.equal(Buffer.from(await got.bytes()).toString('base64'), onePixel);
  const headers = ['content-type', 'x-content-type-options', 'cross-origin-resource-policy', 'cache-control'];
  assert.deepEqual(
    headers.map((name) => got.headers.get(name)),
    ['image/png', 'nosniff', 'cross-origin', 'public, max-age=3600'],
  );
  assert.match(got.headers.get('content-security-policy') ?? '', /default-src 'none'.*sandbox/);

  const other = await setPicture(server, { token: own.admin }, operator.id);
  assert.notEqual(other, path);
  const statusOf = async (address: string) => (await fetch(`${server.url}${address}`)).status;
  await until(async () => (await statusOf(path)) === 404, 1_000);
  assert.equal(await statusOf(other), 200);
  const read = async () =>
    expectStatus(await call(server, `GET /operators/${operator.id}`, { token: operator.token }), 200);
  const shown = await read();
  assert.equal(shown.body.picture_url, other);
  for (let time = 0; time < 2; time += 1) {
    const removed = await call(server, `DELETE /operators/${operator.id}/picture`, { token: operator.token });
    assert.deepEqual(expectStatus(removed, 200).body, { picture_url: null });
  }
  assert.equal((await read()).body.picture_url, null);
  assert.notEqual((await read()).headers.get('etag'), shown.headers.get('etag'));
  await until(async () => (await statusOf(other)) === 404, 1_000);
});

test('only a PNG, JPEG or WebP of at most 256 KiB is accepted, and colleagues cannot set it', async () => {
  const { own, operator } = await engage(server);
  const put = async (content: string, token = operator.token, id = operator.id) =>
    call(server, `PUT /operators/${id}/picture`, { token, body: { content } });
  const base64 = (...bytes: (string | number[])[]) =>
    Buffer.concat(bytes.map((part) => Buffer.from(part as string))).toString('base64');
  const jpeg = [0xff, 0xd8, 0xff, 0xe0];
  const webp = base64('RIFF', [4, 0, 0, 0], 'WEBPVP8 ');
  for (const content of [base64(jpeg), webp]) expectStatus(await put(content), 200);
  const refused = [
    base64('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'),
    base64('GIF89a'),
    base64('RIFF', [4, 0, 0, 0], 'WAVEfmt '),
    `${onePixel}!`,
    '',
    base64(jpeg, 'x'.repeat(256 * 1024)),
  ];
  for (const content of refused) {
    const { details } = expectStatus(await put(content), 422).body;
    assert.equal(details[0].attribute, '/content', content.slice(0, 40));
  }
  const colleague = await makeAvailableOperator(server, own);
  expectStatus(await put(onePixel, colleague.token), 403);
});
