import { maxPageSize } from '@usher/contract/limits';
import type { Config } from '../../config.ts';
import { isUuid } from '../../platform/ids.ts';
import { withApi, type Api } from './api.ts';
import { eventLine, jsonLine } from '../listen/event-line.ts';
import { command, print, UsageError, type Values } from '../command.ts';
import { connectionOf, eventTypesOf, parseInstant, serverOptions, serverOptionsHelp, wholeNumber } from '../options.ts';

const help = `usher events [--type <type>,…] [--since <when>] [--engagement <id>] [--limit <n>] …

  Prints the latest events of the log, newest last. Needs the key of a super_manager, and shows the sites where they have
  that role.

  --type a,b            only these event types
  --since, --until      a date and time such as 2027-01-31T09:00:00Z, or an age: 90s, 15m, 2h, 7d
  --engagement <id>     only events of this engagement
  --visitor <id>        only events of this visitor
  --limit <n>           maximum number of events (default 50)
${serverOptionsHelp}
`;

const options = {
  ...serverOptions,
  type: { type: 'string' },
  since: { type: 'string' },
  until: { type: 'string' },
  engagement: { type: 'string' },
  visitor: { type: 'string' },
  limit: { type: 'string', default: '50' },
} as const;

const maxEvents = 10_000;

export const events = command({ help, options, run: async (config, flags) => printEvents(config, flags) });

async function printEvents(config: Config, flags: Values<typeof options>): Promise<void> {
  const connection = connectionOf(config, flags);
  const limit = wholeNumber('--limit', flags.limit, maxEvents);
  const query = queryOf(flags);
  query.set('per_page', String(Math.min(limit, maxPageSize)));
  const found = await withApi(connection, async (api) => readPages(api, query, limit));
  const lines = found.map((each) => (flags.json ? jsonLine(each) : eventLine(each.event, each.engagement_id)));
  process.stdout.write(lines.map((line) => `${line}\n`).join(''));
  if (lines.length === 0) process.stderr.write('No matching events.\n');
}

export const eventsResend = command({
  help: `usher events resend <delivery> [--json] …

  Sends a delivery again, now and out of order. The id of a delivery is on the page of its webhook in the console, and in
  GET /webhooks/{webhook_id}/deliveries. Needs the key of a super_manager of every site of the webhook.

${serverOptionsHelp}
`,
  options: serverOptions,
  arguments: ['<delivery>'],
  async run(config, flags, id = '') {
    const delivery = parseId('<delivery>', id);
    const sent = (await withApi(connectionOf(config, flags), async (api) =>
      api.post(`/deliveries/${delivery}/replay`, {}),
    )) as { readonly id: string; readonly state: string };
    print(flags.json, sent, `The event is sent again as delivery ${sent.id} (${sent.state}).\n`);
  },
});

type EventFilter = Readonly<Partial<Record<'type' | 'since' | 'until' | 'engagement' | 'visitor', string | undefined>>>;

function queryOf({ type, since, until, engagement, visitor }: EventFilter): URLSearchParams {
  const query = new URLSearchParams();
  for (const each of eventTypesOf('--type', type) ?? []) query.append('event_type[]', each);
  const now = Date.now();
  if (since !== undefined) query.set('since', parseInstant('--since', since, now).toISOString());
  if (until !== undefined) query.set('until', parseInstant('--until', until, now).toISOString());
  if (engagement !== undefined) query.set('engagement_id', parseId('--engagement', engagement));
  if (visitor !== undefined) query.set('visitor_id', parseId('--visitor', visitor));
  return query;
}

function parseId(flag: string, text: string): string {
  if (isUuid(text)) return text;
  throw new UsageError(`${flag} must be an id such as 0b5c7c4e-5d0c-4f37-9c6a-2f1f9d1f6a11, not "${text}".`);
}

interface Page {
  readonly events: readonly { readonly event: Record<string, unknown>; readonly engagement_id: string | null }[];
  readonly next_page: string | null;
}

/** The newest `limit` events, oldest first. */
async function readPages(api: Api, query: URLSearchParams, limit: number): Promise<Page['events']> {
  const found: Page['events'][number][] = [];
  for (let path: string | null = `/events?${query.toString()}`; path !== null && found.length < limit;) {
    const { events: page, next_page } = (await api.get(path)) as Page;
    found.push(...page);
    // Behind a proxy, `next_page` may have another origin than ours; its query is the same.
    path = next_page === null ? null : `/events${new URL(next_page).search}`;
  }
  return found.slice(0, limit).toReversed();
}
