import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { settings } from '../../packages/server/src/config-settings.ts';
import { freePort } from '../support/network/free-port.ts';
import { startTestServer, type Json } from '../support/server.ts';
import { makeAccount } from '../support/world.ts';

const readme = readFileSync('README.md', 'utf8');
const firstSteps = readFileSync('docs/guide/first-steps.md', 'utf8');

test('docs/guide/settings.md lists every setting with its default and meaning', () => {
  const page = readFileSync('docs/guide/settings.md', 'utf8');
  const rows = [...page.matchAll(/^\| `([A-Z_]+)` +\| (?:`([^`]*)`)? *\| (.*?) *\|$/gm)];
  const listed = rows.map(([, name, fallback = '', meaning]) => ({ name, fallback, meaning }));
  assert.deepEqual(listed, [...settings]);
});

test('all pages call the program usher; three of them say what that is in a clone', () => {
  const pages = ['README.md', 'SECURITY.md', ...globSync('docs/{*,guide/*}.md')];
  const others = pages.filter((page) => /\.\/usher\b(?!-)/.test(readFileSync(page, 'utf8')));
  assert.deepEqual(others.toSorted(), ['README.md', 'docs/guide/signing-in.md', 'docs/guide/watching.md']);
});

/** The shell blocks of a page, with the URL and the key of the test server. */
function scriptOf(page: string, server: { url: string }, key: { id: string; secret: string }): string {
  return [...page.matchAll(/```sh\n([\s\S]*?)```/g)]
    .map(([, block = '']) => block)
    .join('\n')
    .replace('http://127.0.0.1:8080', server.url)
    .replace('KEY_ID=…; KEY_SECRET=…', `KEY_ID=${key.id}; KEY_SECRET=${key.secret}`);
}

test('the five minutes of the README work as they are written', async () => {
  await using server = await startTestServer();
  const account = await makeAccount(server);
  const section = readme.slice(readme.indexOf('## Five minutes'), readme.indexOf('## Why Usher'));
  // Readers stop the feed with Ctrl-C; the test stops it with a time limit, which curl reports as an error.
  const script = scriptOf(section, server, account.key).replace('curl -sN ', 'curl -sN --max-time 3 ');
  const { stdout } = await promisify(execFile)('bash', ['-uc', `${script}\nexit 0`]);
  assert.ok(stdout.includes(account.siteId), stdout);
  assert.match(stdout, /^event: feed\.open$/m);
});

test('the first steps of the guide work as they are written', async () => {
  const server = await startTestServer();
  try {
    const account = await makeAccount(server);
    const script = scriptOf(firstSteps, server, account.key)
      .replaceAll('3456', String(await freePort()))
      // Each response is written as one line including its line feed, because the feed prints at the same time.
      .replaceAll(/^curl /gm, String.raw`curl -w '\n' `);
    const { stdout } = await promisify(execFile)('bash', ['-euc', script]);
    const lines = stdout.split('\n').filter((line) => line !== '');
    const feedTypes = lines.filter((line) => line.startsWith('event: ')).map((line) => line.slice('event: '.length));
    const printed = lines.filter((line) => !/^(?:id|event|data|): /.test(line)).map((line) => JSON.parse(line));
    const [delivered, ...more] = printed.filter((each) => 'event_type' in each);
    const answers = printed.filter((each) => !('event_type' in each));
    assert.equal(answers.length, 13, stdout);
    const [sites, operator, visitor, queue, queues, ticket, me, accepted, engagements, message] = answers;
    const [second, deliveries, mistake] = answers.slice(10);
    assert.equal(sites.sites[0].id, account.siteId);
    assert.equal(operator.assignments[0].team_ids.length, 1);
    assert.ok(visitor.access_token);
    assert.deepEqual([queue.status, queues.queues[0].status], ['closed', 'opened']);
    assert.deepEqual([ticket.state, ticket.position, me.available], ['waiting', 1, true]);
    assert.equal(accepted.queue_ticket_id, ticket.id);
    assert.equal(engagements.engagements[0].id, accepted.engagement_id);
    assert.equal(message.status, 'sent');
    // Resources that changed shortly before may be shown once more.
    assert.deepEqual(
      feedTypes.filter((type) => !type.endsWith('.state')),
      ['feed.open', 'engagement.chat.message'],
    );
    assert.deepEqual(
      [delivered?.message.id, delivered?.message.content, more.length],
      [second.id, 'This goes to the webhook.', 0],
    );
    assert.deepEqual(
      deliveries.deliveries.map(({ state, event_id }: Json) => [state, event_id]),
      [['delivered', delivered.event_id]],
    );
    assert.deepEqual(
      mistake.details.map(({ attribute }: { attribute: string }) => attribute),
      ['/site_id', '/colour', '/name'],
    );
  } finally {
    await server[Symbol.asyncDispose]();
  }
});
