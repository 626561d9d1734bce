import assert from 'node:assert/strict';
import { test } from 'node:test';
import { catalogue, eventTypes, type EventFields, type EventType } from './catalogue.ts';
import { eventSchemas, makeEvent } from './make-event.ts';

/** The payloads of the interface, written by hand: an event must have exactly these fields, in this order. */

const id = '0d9c6a3e-5a51-4e1b-9f0e-2f7f3f1f6a11';
const moment = new Date('2027-01-31T09:00:00.123Z');
const common = { event_id: id, dispatched_at: '2027-01-31T09:00:00.123Z' };

const subEngagement = { id: 'sub', operator_id: 'operator', site_id: 'site' };
const request = { id: 'request', site_id: 'site', visitor_id: 'visitor', operator_id: 'operator' };
const typing = {
  typing_indicator: {
    engagement_id: 'engagement',
    sub_engagement_id: 'sub',
    sender: { id: 'sender' },
    typing: true,
    clock: 7,
  },
};
const messageFields = {
  timestamp: '2027-01-31T09:00:00.000Z',
  id: 'message',
  engagement_id: 'engagement',
  sub_engagement_id: 'sub',
  content: 'Hello',
};
const chat = { sender: { type: 'visitor' }, target: 'operator', type: 'chat' };
const singleChoice = {
  type: 'single_choice',
  image_url: 'https://example.com/a.png',
  options: [{ text: 'Yes', value: 'y' }],
};
const singleChoiceResponse = { type: 'single_choice_response', selected_option: 'y' };
const files = {
  type: 'files',
  files: [{ url: 'https://example.com/f', name: 'f.pdf', content_type: 'application/pdf', deleted: false }],
};
const delivered = { ...messageFields, status: 'delivered', ...chat };

type Loose = Record<string, unknown>;

const documented: Readonly<Partial<Record<EventType, readonly Loose[]>>> = {
  'engagement.request.failure': [
    { engagement_request: { ...request, fail_reason: 'rejected' } },
    { engagement_request: { ...request, fail_reason: 'error', fail_message: 'out of order' } },
  ],
  'engagement.request.deliver': [{ engagement_request: request }],
  'engagement.start': [
    {
      engagement: {
        id: 'engagement',
        engagement_request_id: 'request',
        visitor_id: 'visitor',
        current_sub_engagement: subEngagement,
        // Added later, and so after the older fields.
        source: 'queue',
        legs: [{ ...subEngagement, media: 'text', started_at: '2027-01-31T09:00:00.000Z', ended_at: null }],
        audio_recording_urls: [],
      },
    },
  ],
  'engagement.end': [
    {
      engagement: {
        id: 'engagement',
        engagement_request_id: 'request',
        visitor_id: 'visitor',
        current_sub_engagement: subEngagement,
        end_reason: 'visitor_hung_up',
      },
    },
  ],
  'engagement.transfer': [
    {
      engagement: {
        id: 'engagement',
        engagement_request_id: 'request',
        transfer_request_id: 'transfer',
        visitor_id: 'visitor',
        previous_sub_engagement: subEngagement,
        current_sub_engagement: { ...subEngagement, id: 'next' },
      },
    },
  ],
  'engagement.chat.message': [null, singleChoice, singleChoiceResponse, files].map((attachment) => ({
    message: { ...messageFields, status: 'sent', ...chat, attachment },
    undelivered_messages: false,
  })),
  'engagement.chat.message.status': statusExamples(),
  'engagement.chat.message_status': statusExamples(),
  'engagement.chat.system_message': [null, singleChoice, singleChoiceResponse].map((attachment) => ({
    message: {
      ...messageFields,
      status: 'sent',
      sender: { type: 'system' },
      target: 'operator',
      type: 'system_message',
      attachment,
      metadata: { type: 'prompt' },
    },
    undelivered_messages: true,
  })),
  'engagement.chat.typing_indicator.operator': [typing],
  'engagement.chat.typing_indicator.visitor': [typing],
  'engagement.media_upgrade_request': [
    {
      media_upgrade_request: {
        id: 'upgrade',
        audio: 'two_way',
        video: 'one_way',
        target: 'visitor',
        engagement_id: 'engagement',
        sub_engagement_id: 'sub',
      },
    },
  ],
  'engagement.event': [
    {
      message: {
        timestamp: '2027-01-31T09:00:00.000Z',
        id: 'message',
        engagement_id: 'engagement',
        sub_engagement: subEngagement,
        sender: { type: 'visitor', id: 'visitor' },
        content: 'basket_filled',
      },
    },
  ],
  'visitor.authentication.success': [
    {
      authentication_response: {
        authentication_request_id: 'authentication',
        visitor_id: 'visitor',
        access_token: 'token',
        name: 'Vi',
        preferred_name: 'V',
        email: 'vi@example.com',
        id_token: 'id token',
        issuer: 'issuer',
        subject: 'subject',
      },
    },
  ],
  'visitor.authentication.failure': [
    { authentication_response: { fail_reason: 'denied', authentication_request_id: 'authentication' } },
  ],
  'sip_domain.delete': [{ sip_domain: { id: 'domain' } }],
  'engagement.files.security_scan_result': [{ security_scan_result: { file_id: id, result: 'clean' } }],
};

/** A type that is not listed above is checked against its own sample. */
const examples = Object.fromEntries(
  eventTypes.map((type) => [type, documented[type] ?? [catalogue[type].sample]]),
) as Readonly<Record<EventType, readonly Loose[]>>;

function statusExamples(): Loose[] {
  return [null, singleChoice, singleChoiceResponse].map((attachment) => ({ message: { ...delivered, attachment } }));
}

/** Every value that an enumerated field may have. The path names the field in the payload. */
const enumerations: readonly (readonly [EventType, string, readonly unknown[]])[] = [
  [
    'engagement.request.failure',
    'engagement_request/fail_reason',
    ['rejected', 'timed_out', 'visitor_left', 'visitor_cancel', 'operator_left', 'operator_cancel'],
  ],
  [
    'engagement.end',
    'engagement/end_reason',
    ['visitor_hung_up', 'operator_hung_up', 'visitor_left', 'operator_left', 'error'],
  ],
  ['engagement.chat.message', 'message/status', ['sent']],
  ['engagement.chat.message', 'message/sender/type', ['visitor', 'operator']],
  ['engagement.chat.message', 'message/target', ['visitor', 'operator']],
  ['engagement.chat.message', 'message/type', ['chat']],
  ['engagement.chat.message', 'undelivered_messages', [true, false]],
  ['engagement.chat.message.status', 'message/status', ['delivered']],
  ['engagement.chat.message_status', 'message/status', ['delivered']],
  ['engagement.chat.message_status', 'message/sender/type', ['visitor', 'operator']],
  ['engagement.chat.system_message', 'message/status', ['sent']],
  ['engagement.chat.system_message', 'message/sender/type', ['system', 'omniguide']],
  ['engagement.chat.system_message', 'message/target', ['operator']],
  ['engagement.chat.system_message', 'message/type', ['system_message', 'visitor_authentication']],
  ['engagement.chat.system_message', 'message/metadata', [null, { type: 'prompt' }, { type: 'suggestion' }]],
  ['engagement.chat.system_message', 'message/metadata/type', ['prompt', 'suggestion']],
  ['engagement.media_upgrade_request', 'media_upgrade_request/audio', [null, 'two_way']],
  ['engagement.media_upgrade_request', 'media_upgrade_request/video', [null, 'one_way', 'two_way']],
  ['engagement.media_upgrade_request', 'media_upgrade_request/target', ['visitor', 'operator']],
  ['engagement.event', 'message/sender/type', ['visitor']],
  ['engagement.files.security_scan_result', 'security_scan_result/result', ['clean', 'infected']],
  ['engagement.chat.typing_indicator.visitor', 'typing_indicator/typing', [true, false]],
];

/** A value that one field allows must be refused for the others. */
const words = new Set(enumerations.flatMap(([, , allowed]) => allowed).filter((value) => typeof value === 'string'));

const nullable = new Set([
  'engagement.start/engagement/legs/0/ended_at',
  ...['name', 'preferred_name', 'email', 'id_token', 'issuer', 'subject'].map(
    (name) => `visitor.authentication.success/authentication_response/${name}`,
  ),
  ...['audio', 'video'].map((name) => `engagement.media_upgrade_request/media_upgrade_request/${name}`),
  'engagement.request.failure/engagement_request/fail_message',
  'engagement.chat.message/message/attachment',
  'engagement.chat.message.status/message/attachment',
  'engagement.chat.message_status/message/attachment',
  'engagement.chat.system_message/message/attachment',
  'engagement.chat.system_message/message/metadata',
]);

function make(type: EventType, fields: unknown): unknown {
  return makeEvent(type, { id, at: moment }, fields as EventFields<EventType>);
}

function isObject(value: unknown): value is Loose {
  return typeof value === 'object' && value !== null;
}

/** Every field of the payload, elements of lists included. */
function pathsOf(value: unknown, path: readonly string[] = []): string[][] {
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, field]) => [[...path, name], ...pathsOf(field, [...path, name])]);
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce((found, name) => (isObject(found) ? found[name] : undefined), value);
}

/** A copy of the payload, changed by `change` where `path` leads. */
function changed(fields: unknown, path: readonly string[], change: (parent: Loose, name: string) => void): unknown {
  const whole = structuredClone(fields);
  const parent = at(whole, path.slice(0, -1));
  assert.ok(isObject(parent), path.join('/'));
  change(parent, path.at(-1) ?? '');
  return whole;
}

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, field]) => [name, reversed(field)]),
  );
}

test('D8.3 the catalogue has every event type, the message status in both spellings', () => {
  const types = Object.keys(documented);
  assert.deepEqual(
    types.filter((type) => !(type in catalogue)),
    [],
  );
  assert.equal(types.length, 17);
});

for (const type of eventTypes) {
  const refuses = (fields: unknown, why: string): void =>
    assert.throws(() => make(type, fields), new RegExp(`^Error: ${type} does not fit its schema: /`), why);

  test(`${type} has exactly its fields, in the order of the interface`, () => {
    for (const fields of examples[type]) {
      const expected = JSON.stringify({ event_type: type, ...common, ...fields });
      assert.equal(JSON.stringify(make(type, fields)), expected);
      assert.equal(JSON.stringify(make(type, reversed(fields))), expected);
    }
  });

  test(`${type} with a field left out, added, null or of another type is refused`, () => {
    for (const fields of documented[type] ?? []) {
      refuses({ ...fields, extra: 1 }, 'extra');
      for (const path of pathsOf(fields)) {
        const where = path.join('/');
        const set = (value: unknown): unknown => changed(fields, path, (parent, name) => (parent[name] = value));
        refuses(set(5.5), `${where} a number`);
        if (nullable.has(`${type}/${where}`)) make(type, set(null));
        else refuses(set(null), `${where} null`);

        const without = changed(fields, path, (parent, name) => Reflect.deleteProperty(parent, name));
        if (where.endsWith('/image_url')) make(type, without);
        else if (!Array.isArray(at(fields, path.slice(0, -1)))) refuses(without, `${where} left out`);

        const field = at(fields, path);
        if (isObject(field) && !Array.isArray(field) && !where.endsWith('/metadata'))
          refuses(set({ ...field, extra: 1 }), `${where}/extra`);
      }
    }
  });
}

for (const [type, where, allowed] of enumerations) {
  test(`${type}: ${where} is one of ${JSON.stringify(allowed)}`, () => {
    const set = (value: unknown): unknown =>
      changed(examples[type][0], where.split('/'), (parent, name) => (parent[name] = value));
    for (const value of allowed) make(type, set(value));
    const others = [...words, '', 'something_else', 1, {}, []].filter((value) => !allowed.includes(value));
    for (const value of others) assert.throws(() => make(type, set(value)), JSON.stringify(value));
    // openapi.json lists the same values, except `error`, which has a schema of its own.
    const listed = new Set(
      valuesAt(schemaOf(type), where.split('/')).filter((value) => value !== 'error' || allowed.includes(value)),
    );
    if (listed.size > 0) assert.deepEqual(listed, new Set(allowed));
  });
}

function schemaOf(type: EventType): unknown {
  return eventSchemas()[type]?.schema;
}

/** The values that the schema lists for the field; empty for a field without a list, such as a boolean. */
function valuesAt(schema: unknown, path: readonly string[]): unknown[] {
  const alternatives = at(schema, ['anyOf']);
  if (Array.isArray(alternatives)) return alternatives.flatMap((alternative) => valuesAt(alternative, path));
  const [name, ...rest] = path;
  if (name !== undefined) return valuesAt(at(schema, ['properties', name]), rest);
  return [at(schema, ['enum']) ?? at(schema, ['const']) ?? []].flat();
}

test('fail_message is present, and may be null, with the reason error only', () => {
  const type = 'engagement.request.failure';
  const failure = (more: Loose): unknown => make(type, { engagement_request: { ...request, ...more } });
  failure({ fail_reason: 'error', fail_message: null });
  assert.throws(() => failure({ fail_reason: 'error' }));
  for (const fail_message of ['late', null])
    assert.throws(() => failure({ fail_reason: 'timed_out', fail_message }), /fail_message/);
});

test('only engagement.chat.message carries files', () => {
  for (const type of eventTypes.filter((type) => type.startsWith('engagement.chat.') && !type.includes('typing'))) {
    const withFiles = changed(examples[type][0], ['message', 'attachment'], (parent, name) => (parent[name] = files));
    if (type === 'engagement.chat.message') make(type, withFiles);
    else assert.throws(() => make(type, withFiles), type);
  }
});

test('metadata of a system message may have any fields beside its type', () => {
  const type = 'engagement.chat.system_message';
  const set = (metadata: Loose): unknown =>
    make(
      type,
      changed(examples[type][0], ['message', 'metadata'], (parent, name) => (parent[name] = metadata)),
    );
  const metadata = at(set({ source: { page: 3 }, type: 'suggestion' }), ['message', 'metadata']);
  assert.equal(JSON.stringify(metadata), '{"type":"suggestion","source":{"page":3}}');
  assert.throws(() => set({ source: 'guide' }));
});

test('an event needs a UUID and an instant, and an error names the field but not its value', () => {
  const fields: EventFields<'sip_domain.delete'> = { sip_domain: { id: 'domain' } };
  assert.throws(() => makeEvent('sip_domain.delete', { id: 'secret', at: moment }, fields), {
    message: 'sip_domain.delete does not fit its schema: /event_id must match format "uuid"',
  });
  assert.throws(() => makeEvent('sip_domain.delete', { id, at: new Date(Number.NaN) }, fields), RangeError);
  assert.throws(
    () =>
      make(
        'engagement.event',
        changed(
          examples['engagement.event'][0],
          ['message', 'timestamp'],
          (parent, name) => (parent[name] = 'yesterday'),
        ),
      ),
    /timestamp must match format "date-time"/,
  );
});

test('openapi.json has a webhook with a one-line summary for every event type', () => {
  const schemas = eventSchemas();
  assert.deepEqual(Object.keys(schemas), eventTypes);
  const titles = Object.entries(schemas).map(([type, { trigger, schema }]) => {
    assert.match(trigger, /^[A-Z][^\n.]+$/, type);
    assert.ok(isObject(schema));
    assert.equal(at(schema, ['properties', 'event_type', 'const']), type);
    return schema['title'];
  });
  assert.equal(new Set(titles).size, eventTypes.length);
});
