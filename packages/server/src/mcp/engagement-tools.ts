import type { Engagement, TranscriptMessage } from '@usher/sdk/api-types';
import Type from 'typebox';
import { engagementOutput } from './outputs.ts';
import { id, limit, plural, quote, shorten, tool, untrusted, untrustedNotice } from './tool.ts';

const maxMessages = 200;
/** Characters of a message that are shown. */
const maxText = 4_000;
/** Characters of an attachment as JSON. A longer one is shown by its type alone. */
const maxAttachment = 2_000;

export const getEngagement = tool({
  name: 'get_engagement',
  title: 'Get an engagement with its transcript',
  description:
    'Shows one engagement: the visitor, the operators, the media, the times, how it ended, and its messages, oldest first.',
  input: {
    engagement_id: id('The engagement'),
    first_message: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description: 'The number of the first message to show; default 1',
      }),
    ),
    limit: limit(maxMessages, 50),
  },
  output: engagementOutput,
  changes: null,
  async run(api, { engagement_id, first_message: first = 1, limit: most = 50 }) {
    const engagement = await api.get<Engagement>(`/engagements/${engagement_id}`);
    const transcript = await api.get<readonly TranscriptMessage[]>(`/engagements/${engagement_id}/chat_transcript`);
    const page = transcript.slice(first - 1, first - 1 + most);
    const messages = page.map((message, index) => showMessage(message, first + index));
    const next = first - 1 + page.length < transcript.length ? first + page.length : null;
    const lines = page.map((message, index) => describeMessage(message, first + index));
    const more = next === null ? [] : [`There are more: call again with first_message ${next}.`];
    return {
      text: [describe(engagement, transcript.length), untrustedNotice, ...lines, ...more].join('\n'),
      data: {
        notice: untrustedNotice,
        engagement: showEngagement(engagement),
        messages,
        total_messages: transcript.length,
        next_message: next,
      },
    };
  },
});

function describe({ id: engagementId, state, end_reason, media, started_at, ended_at }: Engagement, total: number) {
  const end = ended_at === null ? '' : `, ended at ${ended_at} (${end_reason ?? 'unknown reason'})`;
  return `Engagement ${engagementId} (${media}) is ${state}: started at ${started_at}${end}. ${plural(total, 'message')}.`;
}

function showEngagement(engagement: Engagement) {
  const { source, operators, legs, calls, current_sub_engagement: _current, ...rest } = engagement;
  const { sub_engagements: _parts, audio_recording_urls: _urls, engagement_request_id: _request, ...shown } = rest;
  return {
    ...shown,
    // A visitor's request may name any source.
    source: untrusted(source),
    operators: operators.map(({ id: operatorId, display_name: name }) => ({ id: operatorId, name })),
    legs,
    calls,
  };
}

/** What operators write is trusted. What visitors write is not, nor what programs write for them as system or assistant. */
function isTrusted({ sender }: TranscriptMessage): boolean {
  return sender.type === 'operator';
}

function showMessage(message: TranscriptMessage, number: number) {
  const { id: messageId, timestamp, sender, type, status } = message;
  const mark = <T>(value: T | null) => (isTrusted(message) ? value : untrusted(value));
  return {
    number,
    id: messageId,
    at: timestamp,
    from: sender.type,
    name: mark(sender.name),
    type,
    status,
    text: mark(shorten(message.content, maxText)),
    attachment: mark(shownAttachment(message)),
  };
}

function describeMessage(message: TranscriptMessage, number: number): string {
  const { timestamp, sender, content } = message;
  const mark = isTrusted(message) ? '' : 'untrusted ';
  const name = sender.name === null ? '' : ` ${mark}${quote(sender.name)}`;
  const attachment = shownAttachment(message);
  const attached = attachment === null ? '' : `, ${mark}attachment ${quote(JSON.stringify(attachment))}`;
  return `${number}. ${timestamp} ${sender.type}${name}: ${mark}${quote(shorten(content, maxText))}${attached}`;
}

function shownAttachment({ attachment }: TranscriptMessage): Readonly<Record<string, unknown>> | null {
  if (attachment === null || JSON.stringify(attachment).length <= maxAttachment) return attachment;
  return { type: attachment['type'] };
}
