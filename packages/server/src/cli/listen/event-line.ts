import { eventTypes } from '../../events/catalogue.ts';

/** Formats events as lines for people. Visitors wrote their content, so control characters are replaced before printing. */

const longestContent = 80;
const widestType = Math.max(...eventTypes.map((type) => type.length));
const common = new Set(['event_type', 'event_id', 'dispatched_at', 'undelivered_messages']);

interface Fields {
  readonly [name: string]: unknown;
}

/** Columns: time, event type, engagement or other resource, content. */
export function eventLine(event: Fields, engagementId: string | null = engagementOf(event)): string {
  const [kind, about] = subjectOf(event);
  const subject = engagementId === null ? `${kind} ${idOf(about)}` : `engagement ${engagementId}`;
  const columns = [
    text(event['dispatched_at']),
    text(event['event_type']).padEnd(widestType),
    subject,
    summaryOf(kind, about),
  ];
  return withoutControls(columns.filter((column) => column !== '').join('  '));
}

/** `null` if the event belongs to no engagement. */
export function engagementOf(event: Fields): string | null {
  const [kind, about] = subjectOf(event);
  const id = kind === 'engagement' ? about['id'] : about['engagement_id'];
  return typeof id === 'string' ? id : null;
}

/** The resource that an event is about, in the one field that is not common to all events. */
function subjectOf(event: Fields): readonly [string, Fields] {
  const [name = '', about] = Object.entries(event).find(([field]) => !common.has(field)) ?? [];
  return [name, fields(about)];
}

function idOf(about: Fields): string {
  return text(about['id'] ?? about['file_id'] ?? about['authentication_request_id']);
}

function summaryOf(kind: string, about: Fields): string {
  switch (kind) {
    case 'message': {
      const status = about['status'] === 'delivered' ? ' (delivered)' : '';
      return `${text(fields(about['sender'])['type'])}: ${quoted(about['content'])}${attached(about['attachment'])}${status}`;
    }
    case 'engagement':
      return [text(about['end_reason']), `operator ${text(fields(about['current_sub_engagement'])['operator_id'])}`]
        .filter((part) => part !== '')
        .join(', ');
    case 'engagement_request':
      return text(about['fail_reason']);
    case 'typing_indicator':
      return about['typing'] === true ? 'typing' : 'not typing';
    case 'media_upgrade_request':
      return `asks the ${text(about['target'])} for ${['audio', 'video'].filter((medium) => about[medium] !== null).join(' and ')}`;
    case 'authentication_response':
      return text(about['fail_reason'] ?? about['name']);
    case 'security_scan_result':
      return text(about['result']);
    case 'webhook':
      return [about['origin'], about['disabled_because']].map(text).filter((part) => part !== '').join(', '); // prettier-ignore
    case 'ticket':
      return text(about['state']);
    case 'operator':
      return `${about['available'] === true ? 'available' : 'unavailable'}, ${text(about['because'])}`;
    case 'queue':
      return `${text(about['self_status'])}, ${text(about['reason'])}`;
    default:
      return '';
  }
}

function attached(attachment: unknown): string {
  const { type, files } = fields(attachment);
  if (type === undefined) return '';
  return ` [${Array.isArray(files) ? `${files.length} files` : text(type)}]`;
}

function quoted(content: unknown): string {
  const whole = text(content);
  const isLong = whole.length > longestContent;
  return JSON.stringify(isLong ? `${whole.slice(0, longestContent).toWellFormed()}…` : whole);
}

function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Replaces characters that control a terminal or the text direction. The joiner of emoji may stay. */
function withoutControls(line: string): string {
  return line.replaceAll(/(?!\u200D)[\p{Cc}\p{Cf}\u2028\u2029]/gu, '\uFFFD');
}

/** One line of JSON, in which such characters are escaped. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, escaped);
}

/** JSON escapes each half of a surrogate pair on its own. */
function escaped(character: string): string {
  return character
    .split('')
    .map((half) => String.raw`\u` + half.charCodeAt(0).toString(16).padStart(4, '0'))
    .join('');
}
