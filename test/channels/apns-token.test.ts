import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import { decodeJwt } from 'jose';
import { readConfig, SettingError } from '../../packages/server/src/config.ts';
import { Sealer } from '../../packages/server/src/identity/sealer.ts';
import { openDatabase } from '../../packages/server/src/platform/database/database.ts';
import { ApnsSender } from '../../packages/server/src/channels/apns/sender.ts';
import { appleCa, appleSettings, type FakeApple, type Push } from '../support/services/apple.ts';
import { ApnsFixture, delivery, type Settings } from '../support/receivers/apns.ts';
import { selfSigned } from '../support/network/certificate.ts';
import { forThisFile } from '../support/fixture.ts';
import { launch, temporaryDirectory } from '../support/processes/process.ts';

const fixture = await forThisFile(ApnsFixture.open());
afterEach(async () => fixture.cleanUp());

/** A sender as another process would have it, with its own pool and sealer. */
function startSender(settings: Settings): ApnsSender {
  const own = openDatabase(fixture.database.address, 2);
  const sender = new ApnsSender({ settings, sql: own.sql, sealer: new Sealer(own.sql), ca: appleCa });
  fixture.defer(async () => own.close(1_000));
  fixture.defer(() => sender.close());
  return sender;
}

function tokenOf({ headers }: Push): string {
  return headers['authorization'] ?? '';
}

function tokensAt(apple: FakeApple): string[] {
  return [...new Set(apple.pushes.map(tokenOf))];
}

/** Makes all stored tokens older. */
async function makeTokensOlder(minutes: number): Promise<void> {
  await fixture.database.sql`UPDATE apns_tokens SET made_at = made_at - make_interval(mins => ${minutes})`;
}

async function sendFrom(senders: readonly ApnsSender[]): Promise<string[]> {
  const attempts = await Promise.all(senders.map(async (sender) => sender.send(delivery())));
  return attempts.map(({ verdict }) => verdict);
}

test('processes that start at the same time use one token, which is encrypted in the database', async () => {
  const { apple, settings } = await fixture.startAppleAndSender();
  const senders = Array.from({ length: 4 }, () => startSender(settings));
  assert.deepEqual(new Set(await sendFrom([...senders, ...senders])), new Set(['delivered']));
  const [token = '', ...others] = tokensAt(apple);
  assert.deepEqual([apple.pushes.length, others], [8, []]);
  const rows = await fixture.database.sql<{ version: number; token: Buffer }[]>`
    SELECT version, token FROM apns_tokens WHERE made_at > now() - interval '1 minute'`;
  assert.deepEqual(
    rows.map(({ version }) => version),
    [1],
  );
  assert.ok(!rows.some((row) => row.token.includes(token.slice(-40))));
});

test('a token is shared by all processes for 45 minutes, then replaced by one new token', async () => {
  const { apple, settings } = await fixture.startAppleAndSender();
  await sendFrom([startSender(settings)]);
  await makeTokensOlder(44);
  await sendFrom([startSender(settings)]);
  assert.equal(tokensAt(apple).length, 1);
  await makeTokensOlder(2);
  await sendFrom([startSender(settings), startSender(settings), startSender(settings)]);
  const [first = '', second = '', ...others] = tokensAt(apple);
  assert.deepEqual([apple.pushes.length, others], [5, []]);
  const { iat: before = 0 } = decodeJwt(first.replace('bearer ', ''));
  const { iat: then = 0 } = decodeJwt(second.replace('bearer ', ''));
  assert.ok(then >= before);
});

test('a token from before the clock was set back is not used', async () => {
  const { apple, settings } = await fixture.startAppleAndSender();
  await sendFrom([startSender(settings)]);
  await makeTokensOlder(-10);
  await sendFrom([startSender(settings)]);
  assert.equal(tokensAt(apple).length, 2);
});

test('a token that Apple reports as expired is replaced once, however many processes get the report', async () => {
  const { apple, settings } = await fixture.startAppleAndSender();
  const senders = [startSender(settings), startSender(settings)];
  await sendFrom(senders);
  const [old = ''] = tokensAt(apple);
  await makeTokensOlder(30);
  apple.onPush = (push) =>
    tokenOf(push) === old ? push.answer(403, { reason: 'ExpiredProviderToken' }) : push.answer(200);
  const everyone = [...senders, ...senders, ...senders, ...senders];
  assert.deepEqual(new Set(await sendFrom(everyone)), new Set(['delivered']));
  const [, fresh, ...others] = tokensAt(apple);
  assert.ok(fresh !== undefined && fresh !== old);
  assert.deepEqual(others, []);
  assert.deepEqual(
    senders.map((sender) => sender.paused),
    [0, 0],
  );
});

test('a token younger than 20 minutes is not replaced: sending with the key pauses', async () => {
  const { apple, settings } = await fixture.startAppleAndSender();
  const sender = startSender(settings);
  await sendFrom([sender]);
  await makeTokensOlder(19);
  apple.onPush = (push) => push.answer(403, { reason: 'ExpiredProviderToken' });
  assert.deepEqual(await sendFrom([sender]), ['failed']);
  assert.deepEqual([tokensAt(apple).length, apple.pushes.length, sender.paused], [1, 2, 1]);
  assert.deepEqual(await sendFrom([sender]), ['failed']);
  assert.equal(apple.pushes.length, 2);
});

test('if Apple reports the new token as expired too, no third token is made', async () => {
  const { apple, settings } = await fixture.startAppleAndSender();
  const sender = startSender(settings);
  await sendFrom([sender]);
  await makeTokensOlder(30);
  apple.onPush = (push) => push.answer(403, { reason: 'ExpiredProviderToken' });
  assert.deepEqual(await sendFrom([sender]), ['failed']);
  assert.deepEqual([tokensAt(apple).length, apple.pushes.length, sender.paused], [2, 3, 1]);
});

test('a token signed by another key with the same id is not used', async () => {
  const { apple, settings } = await fixture.startAppleAndSender();
  const other = appleSettings(apple.url).settings;
  assert.deepEqual([other.keyId, other.teamId], [settings.keyId, settings.teamId]);
  await sendFrom([startSender(settings), startSender(other)]);
  assert.equal(tokensAt(apple).length, 2);
});

test('while the database is down nothing is sent, and the error does not blame Apple', async () => {
  const { apple, settings } = await fixture.startAppleAndSender();
  const own = openDatabase({ kind: 'url', url: 'postgres://nobody@127.0.0.1:1/none' }, 1);
  const sender = new ApnsSender({ settings, sql: own.sql, sealer: new Sealer(own.sql), ca: appleCa });
  fixture.defer(async () => own.close(1_000));
  fixture.defer(() => sender.close());
  const attempt = await sender.send(delivery());
  assert.deepEqual([attempt.verdict, attempt.unavailable, attempt.status], ['failed', true, null]);
  assert.match(attempt.error ?? '', /^could not get a provider token for Apple \(ECONNREFUSED\)$/);
  assert.equal(apple.pushes.length, 0);
});

test('a closed sender does not keep its process alive', async () => {
  const { apple, settings } = await fixture.startAppleAndSender();
  const { address } = fixture.database;
  const input = { address, url: apple.url, ca: appleCa, key: settings.key.export({ type: 'pkcs8', format: 'pem' }) };
  const source = `
    import { createPrivateKey } from 'node:crypto';
    import { Sealer } from './packages/server/src/identity/sealer.ts';
    import { openDatabase } from './packages/server/src/platform/database/database.ts';
    import { ApnsSender } from './packages/server/src/channels/apns/sender.ts';
    const { address, url, ca, key } = ${JSON.stringify(input)};
    const database = openDatabase(address, 1);
    const settings = { key: createPrivateKey(key), keyId: 'ABC123DEFG', teamId: 'DEF123GHIJ', sandboxUrl: url, productionUrl: url };
    const sender = new ApnsSender({ settings, sql: database.sql, sealer: new Sealer(database.sql), ca });
    const attempt = await sender.send(${JSON.stringify(delivery())});
    await database.close();
    sender.close();
    console.log(attempt.verdict);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const deadline = setTimeout(() => child.kill('SIGKILL'), 10_000);
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  const [code, signal] = await once(child, 'exit');
  clearTimeout(deadline);
  assert.deepEqual([code, signal, output.trim()], [0, null, 'delivered']);
});

test('the APNs settings must be set together, and each must be valid', () => {
  const directory = temporaryDirectory();
  fixture.defer(() => directory.remove());
  const file = (name: string, text: string): string => {
    const path = join(directory.path, name);
    writeFileSync(path, text);
    return path;
  };
  const pem = (curve: string) =>
    generateKeyPairSync('ec', {
      namedCurve: curve,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    });
  const key = file('AuthKey.p8', selfSigned.key);
  const environment = { USHER_APNS_KEY_FILE: key, USHER_APNS_KEY_ID: 'ABC123DEFG', USHER_APNS_TEAM_ID: 'DEF123GHIJ' };
  assert.equal(readConfig({}).apns, null);
  const { apns } = readConfig(environment);
  assert.ok(apns);
  assert.deepEqual(
    [apns.keyId, apns.teamId, apns.sandboxUrl, apns.productionUrl, apns.key.asymmetricKeyType],
    ['ABC123DEFG', 'DEF123GHIJ', 'https://api.sandbox.push.apple.com', 'https://api.push.apple.com', 'ec'],
  );
  for (const name of Object.keys(environment)) {
    const { [name]: left, ...others } = environment as Record<string, string>;
    assert.throws(() => readConfig(others), new RegExp(`go together: set all or none\\. Missing: ${name}\\.`));
    assert.throws(() => readConfig({ [name]: left ?? '' }), SettingError);
  }
  const folder = join(directory.path, 'folder');
  mkdirSync(folder);
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey;
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  for (const [path, why] of [
    [join(directory.path, 'nowhere.p8'), /cannot be read \(ENOENT\)/],
    [folder, /cannot be read \(EISDIR\)/],
    [file('empty', ''), /is not a P-256 key/],
    [file('garbage', '-----BEGIN PRIVATE KEY-----\ngarbage\n-----END PRIVATE KEY-----'), /is not a P-256 key/],
    [file('public', pem('P-256').publicKey), /is not a P-256 key/],
    [file('curve', pem('P-384').privateKey), /is not a P-256 key/],
    [file('rsa', rsa.export({ type: 'pkcs8', format: 'pem' })), /is not a P-256 key/],
    [file('sec1', ec.export({ type: 'sec1', format: 'pem' })), /is not a P-256 key/],
  ] as const)
    assert.throws(
      () => readConfig({ ...environment, USHER_APNS_KEY_FILE: path }),
      (error: Error) => error instanceof SettingError && why.test(error.message) && !error.message.includes('\n'),
    );
  for (const wrong of [
    { USHER_APNS_KEY_ID: 'abc123defg' },
    { USHER_APNS_TEAM_ID: 'TOO-SHORT' },
    { USHER_APNS_SANDBOX_URL: 'http://127.0.0.1:80' },
    { USHER_APNS_SANDBOX_URL: 'api.push.apple.com' },
    { USHER_APNS_PRODUCTION_URL: 'https://api.push.apple.com/3/device' },
    { USHER_APNS_PRODUCTION_URL: 'https://user:secret@api.push.apple.com' },
  ]) {
    const [name = ''] = Object.keys(wrong);
    assert.throws(
      () => readConfig({ ...environment, ...wrong }),
      (error: Error) =>
        error instanceof SettingError &&
        error.message.startsWith(`${name} must be`) &&
        !error.message.includes('secret'),
    );
  }
  const slash = readConfig({ ...environment, USHER_APNS_SANDBOX_URL: 'https://localhost:443/' });
  assert.equal(slash.apns?.sandboxUrl, 'https://localhost');
});

test('a missing key file stops the start with a message of one line', async () => {
  const directory = temporaryDirectory();
  fixture.defer(() => directory.remove());
  const missing = join(directory.path, 'AuthKey.p8');
  const usher = launch({
    dataDir: directory.path,
    environment: { USHER_APNS_KEY_FILE: missing, USHER_APNS_KEY_ID: 'ABC123DEFG', USHER_APNS_TEAM_ID: 'DEF123GHIJ' },
  });
  assert.equal(await usher.ended(), 1);
  assert.equal(usher.errors, `usher: USHER_APNS_KEY_FILE names "${missing}", which cannot be read (ENOENT).\n`);
});
