import type { Config } from '../config.ts';
import { eventTypes, type EventType } from '../events/catalogue.ts';
import { loggedTypes } from '../events/subscribers.ts';
import { newSecret, secretBytes } from '../webhooks/channels/webhook-secret.ts';
import { StartError } from '../platform/errors.ts';
import { Api } from './api.ts';
import { engagementOf, eventLine, jsonLine } from './event-line.ts';
import { followFeed, type FeedItem } from './follow-feed.ts';
import { Forwarder } from './forwarder.ts';
import { connectionOf, eventTypesOf, httpUrl, readOptions, serverOptions, type Connection } from './options.ts';

const help = `usher listen [--events <type>,…] [--forward-to <url>] …

  Prints events as they happen, until Ctrl-C. With --forward-to it also sends each to that address as a webhook would, and
  prints what is answered: so a receiver on your own machine can be built and tried without registering anything.
  A manager's key hears all of its sites, another operator's what concerns the operator.

  --events a,b          only these types
  --forward-to <url>    POST each event there, signed as webhooks are (Standard Webhooks); one that fails is not sent again
  --secret whsec_…      sign with this secret; without it one is made and printed
  --json                print each event whole, as a line of JSON
  --url <url>           where Usher serves; by default what HOST and PORT say
  --key-id, --key-secret   an API key; by default what USHER_ADMIN_KEY_ID and USHER_ADMIN_KEY_SECRET say

  Secrets in events (a visitor's new access_token) are for registered webhooks and the visitor alone: here they are empty.
`;

const options = {
  ...serverOptions,
  events: { type: 'string' },
  'forward-to': { type: 'string' },
  secret: { type: 'string' },
} as const;

export async function listen(config: Config, ...args: string[]): Promise<void> {
  const asked = readOptions('listen', options, args);
  if (asked.help) return void process.stdout.write(help);
  const connection = connectionOf(config, asked);
  const spelling = spellingOf(eventTypesOf('--events', asked.events) ?? eventTypes);
  const forwarding = forwardingOf(asked['forward-to'], asked.secret);
  const show = (line: string): unknown => process.stdout.write(`${line}\n`);
  const say = (line: string): unknown => process.stderr.write(`${line}\n`);
  const ended = new AbortController();
  const { signal } = ended;
  endWhenAsked(ended);
  const api = new Api(connection, signal);
  const report = asked.json ? say : (line: string): unknown => show(`  ${line}`);
  const forwarder = forwarding === null ? null : new Forwarder({ ...forwarding, signal, report });
  try {
    for await (const item of followFeed(api, { signal, say, greeting: greetingOf(connection, forwarding) })) {
      const event = eventOf(item, spelling);
      if (event === null) continue;
      show(asked.json ? jsonLine(event) : eventLine(event));
      await forwarder?.take({ id: event.event_id, engagementId: engagementOf(event), body: JSON.stringify(event) });
    }
  } finally {
    ended.abort();
    const left = (await forwarder?.close()) ?? 0;
    if (left > 0) say(`${left} events had not been forwarded.`);
    await api.close();
  }
}

/** What each event is called for whoever asks for these (D8.3), by what the log calls it. */
function spellingOf(asked: readonly EventType[]): ReadonlyMap<string, EventType> {
  const spelled = new Map<string, EventType>();
  for (const type of asked)
    for (const logged of loggedTypes([type])) spelled.set(logged, asked.includes(logged) ? logged : type);
  return spelled;
}

interface FeedEvent {
  readonly [field: string]: unknown;
  readonly event_id: string;
}

/** `null`: it is none that was asked for, or no event at all but the state of something. */
function eventOf({ type, data }: FeedItem, spelling: ReadonlyMap<string, EventType>): FeedEvent | null {
  const spelled = spelling.get(type);
  // The name stays where it was, in front.
  return spelled === undefined ? null : { ...(JSON.parse(data) as FeedEvent), event_type: spelled };
}

interface Forwarding {
  readonly to: URL;
  readonly secret: Buffer;
  /** Where it was made here: to be shown. */
  readonly newSecret: string | null;
}

function forwardingOf(to: string | undefined, given: string | undefined): Forwarding | null {
  if (to === undefined && given !== undefined)
    throw new StartError('--secret signs what is forwarded: say with --forward-to where to.');
  if (to === undefined) return null;
  const made = given === undefined ? newSecret() : null;
  const secret = secretBytes(given ?? made ?? '');
  if (secret === null) throw new StartError('--secret must be whsec_ followed by 24 to 64 bytes in base64.');
  return { to: httpUrl('--forward-to', to), secret, newSecret: made };
}

function greetingOf({ url }: Connection, forwarding: Forwarding | null): string {
  const listening = `Listening to ${url}; Ctrl-C ends it.`;
  if (forwarding === null) return listening;
  const { to, newSecret: made } = forwarding;
  return `${listening}\nForwarding to ${to.href}${made === null ? '' : `, signed with ${made}`}.`;
}

/** A terminal sends Ctrl-C to every process of the group, so more than one may arrive. */
function endWhenAsked(ended: AbortController): void {
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => ended.abort());
  // Whoever read what is printed has gone (`| head`).
  process.stdout.on('error', () => ended.abort());
}
