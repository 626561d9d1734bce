import { readFileSync } from 'node:fs';
import { CalendarError, readHolidays, type Holidays } from '@usher/contract/icalendar';
import { dateIn, yearFrom, type DateRange } from '@usher/contract/local-date';
import { StartError } from '../../platform/errors.ts';
import { isUuid } from '../../platform/ids.ts';
import { RefusedError, withApi } from './api.ts';
import { command, print, UsageError } from '../command.ts';
import { connectionOf, serverOptions } from '../options.ts';

interface Policy {
  readonly name: string;
  readonly timezone: string;
  readonly business_hours: readonly { opens_at: string; closes_at: string; days_of_week: readonly string[] }[];
  readonly exceptions: readonly { date: string; opens_at?: string; closes_at?: string }[];
}

const path = '/queues/scheduling_policies';
const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

export const hoursImport = command({
  help: `usher hours import <id> <file.ics> [--from <date>] [--to <date>] [--apply] …

  Reads the all-day events of an iCalendar file as closed days of a policy of opening hours.
  Without --apply it only prints what would change. Days that already have an exception keep it.

  --from <date>         first date, such as 2026-12-01; default: today in the time zone of the policy
  --to <date>           last date; default: a year after the first
  --apply               add the closed days to the policy
  --json                print JSON
  --url <url>           URL of the server; default: that of the profile, or from HOST and PORT
  --key-id, --key-secret   API key; default: USHER_ADMIN_KEY_ID and USHER_ADMIN_KEY_SECRET, or the profile (usher login)
`,
  options: {
    ...serverOptions,
    from: { type: 'string' },
    to: { type: 'string' },
    apply: { type: 'boolean', default: false },
  },
  arguments: ['<id>', '<file.ics>'],
  async run(config, flags, id = '', file = '') {
    if (!isUuid(id)) throw new UsageError(`"${id}" is not an id. usher hours list prints the ids.`);
    const text = readText(file);
    await withApi(connectionOf(config, flags), async (api) => {
      const { body, etag } = await api.getTagged(`${path}/${id}`);
      const policy = body as Policy;
      const range = rangeOf(flags, policy.timezone);
      const { days, skipped } = holidaysOf(file, text, range);
      const rows = days.map(({ date, name }) => ({ date, name, ...describeDay(policy, date) }));
      const added = rows.filter(({ isNew }) => isNew).map(({ date }) => ({ date }));
      if (flags.apply && added.length > 0) {
        const exceptions = [...policy.exceptions, ...added].toSorted((a, b) => (a.date < b.date ? -1 : 1));
        const { name, timezone, business_hours } = policy;
        const change = { body: { name, timezone, business_hours, exceptions }, ifMatch: etag };
        await api.write('PUT', `${path}/${id}`, change).catch((error: unknown) => {
          if (!(error instanceof RefusedError) || error.status !== 412) throw error;
          throw new StartError('Somebody has just changed these hours. Nothing was added; run the command again.');
        });
      }
      const lines = rows.map(({ date, name, now, isNew }) => `${isNew ? '+' : '='} ${date}  ${name} (${now})`);
      const notes = skipped.map((each) => `skipped: ${each}`);
      const count = added.length === 1 ? '1 closed day' : `${added.length} closed days`;
      const end = flags.apply
        ? `Added ${count} to ${policy.name}.`
        : `Would add ${count} to ${policy.name}, from ${range.from} to ${range.to}. Add them with --apply.`;
      const value = { ...range, days: rows.map(({ isNew, ...row }) => ({ ...row, is_new: isNew })), skipped };
      print(flags.json, { ...value, applied: flags.apply }, `${[...lines, ...notes, end].join('\n')}\n`);
    });
  },
});

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new StartError(`${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? ''}).`, { cause: error });
  }
}

function holidaysOf(file: string, text: string, range: DateRange): Holidays {
  try {
    return readHolidays(text, range);
  } catch (error) {
    if (error instanceof CalendarError) throw new StartError(`${file}: ${error.message}`, { cause: error });
    throw error;
  }
}

function rangeOf(flags: { from?: string | undefined; to?: string | undefined }, timeZone: string): DateRange {
  const from = dateOf('--from', flags.from ?? dateIn(timeZone, Date.now()));
  const to = dateOf('--to', flags.to ?? yearFrom(from).to);
  if (to < from) throw new UsageError('--to must not be before --from.');
  return { from, to };
}

function dateOf(flag: string, text: string): string {
  const date = /^\d{4}-\d\d-\d\d$/.test(text) ? new Date(`${text}T00:00:00Z`) : null;
  if (date !== null && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)) return text;
  throw new UsageError(`${flag} must be a date such as 2026-12-24, not "${text}".`);
}

/** What is open on the date today, and whether the import would change it. */
function describeDay(policy: Policy, date: string): { readonly now: string; readonly isNew: boolean } {
  const exceptions = policy.exceptions.filter((each) => each.date === date);
  if (exceptions.length > 0) {
    const times = exceptions.flatMap((each) => (each.opens_at === undefined ? [] : [timesOf(each)]));
    return { now: `exception: ${times.join(', ') || 'closed'}; kept`, isNew: false };
  }
  const weekday = weekdays[new Date(`${date}T00:00:00Z`).getUTCDay()] ?? '';
  const open = policy.business_hours.filter(({ days_of_week: days }) => days.includes(weekday)).map(timesOf);
  return { now: `${weekday}, ${open.length === 0 ? 'closed now too' : `now ${open.join(', ')}`}`, isNew: true };
}

const timesOf = ({ opens_at: from, closes_at: to }: { opens_at?: string; closes_at?: string }): string =>
  `${from ?? ''}-${to ?? ''}`;
