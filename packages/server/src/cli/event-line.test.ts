import assert from 'node:assert/strict';
import { test } from 'node:test';
import { engagementOf, eventLine, jsonLine } from './event-line.ts';

const told = (event_type: string, fields: object) => ({
  event_type,
  event_id: 'e',
  dispatched_at: '2027-01-31T09:00:00.000Z',
  ...fields,
});
const engagement = { id: 'en', current_sub_engagement: { id: 's', operator_id: 'op', site_id: 'st' } };
const message = {
  engagement_id: 'en',
  content: 'Hello',
  status: 'sent',
  sender: { type: 'visitor' },
  attachment: null,
};
const scanned = told('engagement.files.security_scan_result', {
  security_scan_result: { file_id: 'f', result: 'clean' },
});

test('a line for every kind of event', () => {
  const upgrade = { id: 'u', engagement_id: 'en', audio: 'two_way', video: null, target: 'visitor' };
  const said = (more: object) => told('engagement.chat.message', { message: { ...message, ...more } });
  const cases: [ReturnType<typeof told>, string][] = [
    [told('engagement.start', { engagement }), 'engagement en  operator op'],
    [
      told('engagement.end', { engagement: { ...engagement, end_reason: 'visitor_left' } }),
      'engagement en  visitor_left, operator op',
    ],
    [told('engagement.chat.message', { message, undelivered_messages: true }), 'engagement en  visitor: "Hello"'],
    [said({ status: 'delivered' }), 'engagement en  visitor: "Hello" (delivered)'],
    [said({ attachment: { type: 'files', files: [{}, {}] } }), 'engagement en  visitor: "Hello" [2 files]'],
    [said({ attachment: { type: 'single_choice' } }), 'engagement en  visitor: "Hello" [single_choice]'],
    [
      told('engagement.request.failure', { engagement_request: { id: 'r', fail_reason: 'timed_out' } }),
      'engagement_request r  timed_out',
    ],
    [
      told('engagement.chat.typing_indicator.visitor', { typing_indicator: { engagement_id: 'en', typing: true } }),
      'engagement en  typing',
    ],
    [
      told('engagement.media_upgrade_request', { media_upgrade_request: upgrade }),
      'engagement en  asks the visitor for audio',
    ],
    [
      told('visitor.authentication.failure', {
        authentication_response: { fail_reason: 'expired', authentication_request_id: 'a' },
      }),
      'authentication_response a  expired',
    ],
    [told('sip_domain.delete', { sip_domain: { id: 'd' } }), 'sip_domain d'],
    [scanned, 'security_scan_result f  clean'],
  ];
  for (const [event, end] of cases)
    assert.equal(eventLine(event), `2027-01-31T09:00:00.000Z  ${event.event_type.padEnd(41)}  ${end}`);
});

test('the engagement is the one it is about, or the one the log knows', () => {
  assert.equal(engagementOf(told('engagement.start', { engagement })), 'en');
  assert.equal(engagementOf(told('engagement.chat.message', { message })), 'en');
  assert.equal(engagementOf(scanned), null);
  assert.match(eventLine(scanned, 'known'), /engagement known {2}clean$/);
});

test('what visitors write is cut short, and does nothing to a terminal', () => {
  const nasty = '\u001B]0;title\u0007\u009B31m\u202Eabc\r\n\u2028\u{E0041}';
  const line = eventLine(told('engagement.chat.message', { message: { ...message, content: nasty } }));
  assert.match(line, /^[^\p{Cc}\p{Cf}\u2028]*$/u);
  assert.match(eventLine(told(nasty, { [nasty]: { id: nasty } })), /^[^\p{Cc}\p{Cf}\u2028]*$/u);
  const long = eventLine(told('engagement.chat.message', { message: { ...message, content: '👋'.repeat(500) } }));
  assert.ok(long.length < 300 && long.isWellFormed());
  const json = jsonLine({ nasty });
  assert.match(json, /^[^\p{Cc}\p{Cf}\u2028]*$/u);
  assert.deepEqual(JSON.parse(json), { nasty });
});

test('what it does not know is a line all the same', () => {
  for (const event of [{}, { event_type: 7, x: null }, told('new.kind', { thing: [1] })])
    assert.equal(typeof eventLine(event), 'string');
});
