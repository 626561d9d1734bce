import type { Config } from '../../config.ts';
import { eventTypes, type EventType } from '../../events/catalogue.ts';
import { loggedTypes } from '../../events/subscriptions/subscribers.ts';
import { newSecret, secretBytes } from '../../channels/webhook-secret.ts';
import { Api } from '../commands/api.ts';
import { command, UsageError, type Values } from '../command.ts';
import { engagementOf, eventLine, jsonLine } from './event-line.ts';
import { examineReceiver } from './examine-receiver.ts';
import { followFeed, type FeedItem } from './follow-feed.ts';
import { Forwarder } from './forwarder.ts';
import { connectionOf, eventTypesOf, receiverUrl, serverOptions, serverOptionsHelp } from '../options.ts';
import type { Connection } from '../profile.ts';

const help = `usher listen [<url>] [--events <type>,…] …

  Prints events as they happen, until Ctrl-C. With a URL, such as localhost:3000/hook, it also sends each event there as a
  webhook would, and prints the response, so you can develop a receiver on your own machine without registering a webhook.
  A manager's key receives the events of all their sites, an operator's key only the events that concern the operator.

  --events a,b          only these event types
  --forward-to <url>    the same as the argument: POST each event there, signed like webhooks, without retries
  --secret whsec_…      sign with this secret; by default a new one is generated and printed
  --misbehave           examine the receiver at <url> instead: send it repeated, late, forged, large and unknown events, and
                        print what it does right and wrong. Needs no server; --secret is the receiver's secret
${serverOptionsHelp}

  Secrets in events (a visitor's new access_token) are left empty: only registered webhooks and the visitor receive them.
`;

const options = {
  ...serverOptions,
  events: { type: 'string' },
  'forward-to': { type: 'string' },
  secret: { type: 'string' },
  misbehave: { type: 'boolean', default: false },
} as const;

export const listen = command({
  help,
  options,
  arguments: ['[url]'],
  async run(config, { misbehave, ...flags }, to) {
    const given = { ...flags, 'forward-to': flags['forward-to'] ?? to };
    if (misbehave) await examine(given);
    else await listenUntilStopped(config, given);
  },
});

/** `usher events tail`: what `usher listen` prints. */
export const eventsTail = command({
  help: `usher events tail [--events <type>,…] …

  Prints events as they happen, until Ctrl-C: the same as usher listen without a URL.

  --events a,b          only these event types
${serverOptionsHelp}
`,
  options: { ...serverOptions, events: { type: 'string' } },
  run: async (config, flags) => listenUntilStopped(config, flags),
});

interface ListenFlags extends Omit<Values<typeof options>, 'forward-to' | 'secret' | 'misbehave'> {
  readonly 'forward-to'?: string | undefined;
  readonly secret?: string | undefined;
}

async function examine({ 'forward-to': to, secret, json }: ListenFlags): Promise<void> {
  if (to === undefined || secret === undefined)
    throw new UsageError(
      '--misbehave needs the URL of a receiver and its secret: usher listen localhost:3000/hook --misbehave --secret whsec_…',
    );
  const receiver = forwardingOf(to, secret);
  if (receiver === null) return;
  let wrong = 0;
  for await (const { trial, isRight, detail } of examineReceiver(receiver.to, receiver.secret)) {
    if (!isRight) wrong += 1;
    const line = json
      ? JSON.stringify({ trial, right: isRight, detail })
      : `${isRight ? 'right' : 'WRONG'}  ${trial}: ${detail}`;
    process.stdout.write(`${line}\n`);
  }
  if (wrong > 0) process.exitCode = 1;
}

async function listenUntilStopped(config: Config, flags: ListenFlags): Promise<void> {
  const connection = connectionOf(config, flags);
  const spelling = spellingOf(eventTypesOf('--events', flags.events) ?? eventTypes);
  const forwarding = forwardingOf(flags['forward-to'], flags.secret);
  const show = (line: string): unknown => process.stdout.write(`${line}\n`);
  const say = (line: string): unknown => process.stderr.write(`${line}\n`);
  const ended = new AbortController();
  const { signal } = ended;
  abortOnSignal(ended);
  const api = new Api(connection, signal);
  const report = flags.json ? say : (line: string): unknown => show(`  ${line}`);
  const forwarder = forwarding === null ? null : new Forwarder({ ...forwarding, signal, report });
  try {
    for await (const item of followFeed(api, { signal, say, greeting: greetingOf(connection, forwarding) })) {
      const event = eventOf(item, spelling);
      if (event === null) continue;
      show(flags.json ? jsonLine(event) : eventLine(event));
      await forwarder?.forward({ id: event.event_id, engagementId: engagementOf(event), body: JSON.stringify(event) });
    }
  } finally {
    ended.abort();
    const unsent = (await forwarder?.close()) ?? 0;
    if (unsent > 0) say(`${unsent} events were not forwarded.`);
  }
}

/** D8.3: maps the name of an event in the log to the name that the user asked for. */
function spellingOf(types: readonly EventType[]): ReadonlyMap<string, EventType> {
  const spelling = new Map<string, EventType>();
  for (const type of types)
    for (const logged of loggedTypes([type])) spelling.set(logged, types.includes(logged) ? logged : type);
  return spelling;
}

interface FeedEvent {
  readonly [field: string]: unknown;
  readonly event_id: string;
}

/** `null` if the item is not an event, or not one of the chosen types. */
function eventOf({ type, data }: FeedItem, spelling: ReadonlyMap<string, EventType>): FeedEvent | null {
  const spelled = spelling.get(type);
  // Overwriting `event_type` keeps it the first field.
  return spelled === undefined ? null : { ...(JSON.parse(data) as FeedEvent), event_type: spelled };
}

interface Forwarding {
  readonly to: URL;
  readonly secret: Buffer;
  /** The secret if this command generated it, so that it is printed. */
  readonly newSecret: string | null;
}

function forwardingOf(to: string | undefined, given: string | undefined): Forwarding | null {
  if (to === undefined && given !== undefined)
    throw new UsageError('--secret signs forwarded events and needs --forward-to.');
  if (to === undefined) return null;
  const generated = given === undefined ? newSecret() : null;
  const secret = secretBytes(given ?? generated ?? '');
  if (secret === null) throw new UsageError('--secret must be whsec_ followed by 24 to 64 bytes in base64.');
  return { to: receiverUrl('--forward-to', to), secret, newSecret: generated };
}

function greetingOf({ url }: Connection, forwarding: Forwarding | null): string {
  const listening = `Listening to ${url}. Press Ctrl-C to stop.`;
  if (forwarding === null) return listening;
  const { to, newSecret: generated } = forwarding;
  return `${listening}\nForwarding to ${to.href}${generated === null ? '' : `, signed with ${generated}`}.`;
}

/** A terminal sends Ctrl-C to every process of the group, so several signals may arrive. */
function abortOnSignal(ended: AbortController): void {
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => ended.abort());
  // The reader of the output has exited (`| head`).
  process.stdout.on('error', () => ended.abort());
}
