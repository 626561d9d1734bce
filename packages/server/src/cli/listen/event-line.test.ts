import assert from 'node:assert/strict';
import { test } from 'node:test';
import { engagementOf, eventLine, jsonLine } from './event-line.ts';

const makeEvent = (event_type: string, fields: object) => ({
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
const scanned = makeEvent('engagement.files.security_scan_result', {
  security_scan_result: { file_id: 'f', result: 'clean' },
});

test('every kind of event is printed as one line', () => {
  const upgrade = { id: 'u', engagement_id: 'en', audio: 'two_way', video: null, target: 'visitor' };
  const withMessage = (more: object) => makeEvent('engagement.chat.message', { message: { ...message, ...more } });
  const cases: [ReturnType<typeof makeEvent>, string][] = [
    [makeEvent('engagement.start', { engagement }), 'engagement en  operator op'],
    [
      makeEvent('engagement.end', { engagement: { ...engagement, end_reason: 'visitor_left' } }),
      'engagement en  visitor_left, operator op',
    ],
    [makeEvent('engagement.chat.message', { message, undelivered_messages: true }), 'engagement en  visitor: "Hello"'],
    [withMessage({ status: 'delivered' }), 'engagement en  visitor: "Hello" (delivered)'],
    [withMessage({ attachment: { type: 'files', files: [{}, {}] } }), 'engagement en  visitor: "Hello" [2 files]'],
    [withMessage({ attachment: { type: 'single_choice' } }), 'engagement en  visitor: "Hello" [single_choice]'],
    [
      makeEvent('engagement.request.failure', { engagement_request: { id: 'r', fail_reason: 'timed_out' } }),
      'engagement_request r  timed_out',
    ],
    [
      makeEvent('engagement.chat.typing_indicator.visitor', {
        typing_indicator: { engagement_id: 'en', typing: true },
      }),
      'engagement en  typing',
    ],
    [
      makeEvent('engagement.media_upgrade_request', { media_upgrade_request: upgrade }),
      'engagement en  asks the visitor for audio',
    ],
    [
      makeEvent('visitor.authentication.failure', {
        authentication_response: { fail_reason: 'expired', authentication_request_id: 'a' },
      }),
      'authentication_response a  expired',
    ],
    [makeEvent('sip_domain.delete', { sip_domain: { id: 'd' } }), 'sip_domain d'],
    [scanned, 'security_scan_result f  clean'],
    [makeEvent('ticket.ended', { ticket: { id: 't', engagement_id: null, state: 'expired' } }), 'ticket t  expired'],
    [
      makeEvent('operator.presence', { operator: { id: 'op', available: false, because: 'expired' } }),
      'operator op  unavailable, expired',
    ],
    [
      makeEvent('queue.status', { queue: { id: 'q', self_status: 'full', reason: 'capacity' } }),
      'queue q  full, capacity',
    ],
  ];
  for (const [event, end] of cases)
    assert.equal(eventLine(event), `2027-01-31T09:00:00.000Z  ${event.event_type.padEnd(41)}  ${end}`);
});

test("the line names the event's own engagement, or the one that the log gives", () => {
  assert.equal(engagementOf(makeEvent('engagement.start', { engagement })), 'en');
  assert.equal(engagementOf(makeEvent('engagement.chat.message', { message })), 'en');
  assert.equal(engagementOf(scanned), null);
  assert.match(eventLine(scanned, 'known'), /engagement known {2}clean$/);
});

test('text of visitors is truncated and cannot control the terminal', () => {
  const nasty = '\u001B]0;title\u0007\u009B31m\u202Eabc\r\n\u2028\u{E0041}';
  const line = eventLine(makeEvent('engagement.chat.message', { message: { ...message, content: nasty } }));
  assert.match(line, /^[^\p{Cc}\p{Cf}\u2028]*$/u);
  assert.match(eventLine(makeEvent(nasty, { [nasty]: { id: nasty } })), /^[^\p{Cc}\p{Cf}\u2028]*$/u);
  const long = eventLine(makeEvent('engagement.chat.message', { message: { ...message, content: '👋'.repeat(500) } }));
  assert.ok(long.length < 300 && long.isWellFormed());
  const json = jsonLine({ nasty });
  assert.match(json, /^[^\p{Cc}\p{Cf}\u2028]*$/u);
  assert.deepEqual(JSON.parse(json), { nasty });
});

test('an unknown kind of event is still printed as one line', () => {
  for (const event of [{}, { event_type: 7, x: null }, makeEvent('new.kind', { thing: [1] })])
    assert.equal(typeof eventLine(event), 'string');
});
