import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acknowledge, engage, ofType, sendText, say, transcript, type TokenHolder } from '../support/people/chat.ts';
import { forThisFile } from '../support/fixture.ts';
import { call, startTestServer } from '../support/server.ts';
import { eventsOf, expectStatus } from '../support/world.ts';

const server = await forThisFile(startTestServer());

test('undelivered_messages is exact while both sides send and acknowledge concurrently', async () => {
  const chat = await engage(server);
  const { visitor, operator, id } = chat;
  const round = async (from: TokenHolder, to: TokenHolder): Promise<void> => {
    const { id: messageId } = expectStatus(await say(chat, from, 'x'), 200).body;
    expectStatus(await acknowledge(chat, to, messageId), 200);
  };
  await Promise.all(
    Array.from({ length: 20 }, async (_, n) => (n % 2 ? round(visitor, operator) : round(operator, visitor))),
  );
  const [row] = await server.database.sql`
    SELECT undelivered_to_visitor AS v, undelivered_to_operator AS o FROM engagements WHERE id = ${id}`;
  assert.deepEqual({ ...row }, { v: 0, o: 0 });
});

test('D10.4 system messages do not affect undelivered_messages', async () => {
  const chat = await engage(server);
  const { own, visitor, operator, id } = chat;
  const news = async (): Promise<string> => {
    const body = { content: 'News' };
    return expectStatus(await call(server, `POST /engagements/${id}/system_messages`, { token: own.admin, body }), 201)
      .body.id;
  };
  const flags = async (): Promise<[string, boolean][]> =>
    (await eventsOf(server, own))
      .filter(({ event_type: type }) => type.endsWith('message'))
      .map(({ message, undelivered_messages: flag }) => [message.content, flag]);
  const unread = await news();
  await sendText(chat, visitor, 'one');
  await news();
  assert.deepEqual(await flags(), [
    ['News', false],
    ['one', false],
    ['News', true],
  ]);
  // Acknowledging the system message does not acknowledge the chat message.
  expectStatus(await acknowledge(chat, operator, unread), 200);
  const two = await sendText(chat, visitor, 'two');
  assert.deepEqual((await flags()).at(-1), ['two', true]);
  const [, one] = await transcript(chat, operator);
  for (const messageId of [one.id, two]) expectStatus(await acknowledge(chat, operator, messageId), 200);
  await sendText(chat, visitor, 'three');
  assert.deepEqual((await flags()).at(-1), ['three', false]);
});

test('a welcome message counts as undelivered until the visitor acknowledges it', async () => {
  const chat = await engage(server, { welcome_message: 'Welcome!' });
  const [welcome] = await transcript(chat, chat.visitor);
  const sender = { type: 'operator', id: chat.operator.id, name: 'Somebody' };
  assert.deepEqual([welcome.content, welcome.sender], ['Welcome!', sender]);
  expectStatus(await say(chat, chat.operator, 'There?'), 200);
  expectStatus(await acknowledge(chat, chat.visitor, welcome.id), 200);
  const messageEvents = ofType(await eventsOf(server, chat.own), 'engagement.chat.message');
  assert.deepEqual(
    messageEvents.map((event) => event.undelivered_messages),
    [false, true],
  );
});
