import type { Config } from '../../config.ts';
import { eventTypes, type EventType } from '../../events/catalogue.ts';
import { sampleEvent } from '../../events/make-event.ts';
import { isUuid, newId } from '../../platform/ids.ts';
import { newSecret, secretBytes } from '../../channels/webhook-secret.ts';
import { withApi } from '../commands/api.ts';
import { command, print, UsageError, type Values } from '../command.ts';
import { Forwarder } from './forwarder.ts';
import { connectionOf, receiverUrl, serverOptions, serverOptionsHelp } from '../options.ts';

const help = `usher trigger <event> --to <url> | --webhook <id> …

  Sends a sample of an event type to a receiver, signed like a webhook. Nothing happens on the server: no engagement, no
  event in the log.

  --to <url>            a receiver of yours, such as localhost:3000/hook; needs no server and no key
  --secret whsec_…      sign with this secret; by default a new one is generated and printed
  --webhook <id>        a registered webhook: the server sends the sample, and keeps the delivery in its log
${serverOptionsHelp}

  Event types: ${eventTypes.join(', ')}.
`;

const options = {
  ...serverOptions,
  to: { type: 'string' },
  secret: { type: 'string' },
  webhook: { type: 'string' },
} as const;

export const trigger = command({
  help,
  options,
  arguments: ['<event>'],
  async run(config, flags, name = '') {
    const type = eventTypes.find((each) => each === name);
    if (type === undefined)
      throw new UsageError(`"${name}" is not an event type. The event types are: ${eventTypes.join(', ')}.`);
    const { to, webhook } = flags;
    if ((to === undefined) === (webhook === undefined))
      throw new UsageError('Name the receiver: --to <url> for your own, or --webhook <id> for a registered one.');
    if (webhook === undefined) await sendTo(type, to ?? '', flags.secret);
    else await sendThrough(config, flags, { type, webhook });
  },
});

async function sendTo(type: EventType, to: string, given: string | undefined): Promise<void> {
  const text = given ?? newSecret();
  const secret = secretBytes(text);
  if (secret === null) throw new UsageError('--secret must be whsec_ followed by 24 to 64 bytes in base64.');
  if (given === undefined) process.stderr.write(`Signed with ${text}\n`);
  const id = newId<string>();
  const body = JSON.stringify(sampleEvent(type, { id, at: new Date() }));
  let isSent = false;
  const forwarder = new Forwarder({
    to: receiverUrl('--to', to),
    secret,
    signal: new AbortController().signal,
    report: (line) => {
      isSent = /^-> 2\d\d /.test(line);
      process.stdout.write(`${type} ${line}\n`);
    },
  });
  await forwarder.forward({ id, engagementId: null, body });
  await forwarder.close();
  if (!isSent) process.exitCode = 1;
}

async function sendThrough(
  config: Config,
  flags: Values<typeof options>,
  { type, webhook }: { readonly type: EventType; readonly webhook: string },
): Promise<void> {
  if (!isUuid(webhook)) throw new UsageError('--webhook must be the id of a webhook: usher webhooks list prints them.');
  await withApi(connectionOf(config, flags), async (api) => {
    const sent = (await api.post(`/webhooks/${webhook}/test`, { event_type: type })) as { delivery_id: string };
    print(flags.json, sent, `${type} is on its way to the webhook as delivery ${sent.delivery_id}.\n`);
  });
}
