import { dateIn } from '@usher/contract/local-date';
import { timeShape, weekdays } from '@usher/contract/opening-times';
import type {
  HoursOutlook,
  ListQueuesResponse,
  ListSchedulingPoliciesResponse,
  Queue,
  SchedulingPolicy,
} from '@usher/sdk/api-types';
import Type from 'typebox';
import {
  changedDates,
  changedDays,
  changeHours as applyChange,
  periodsOf,
  requestOf,
  versionOf,
  type Hours,
  type HoursChange,
} from './hours-change.ts';
import { changedHoursOutput, hoursListOutput, hoursPreviewOutput } from './outputs.ts';
import { cursor, describeNext, id, limit, plural, quote, siteId, tool } from './tool.ts';
import { cursorOf, ToolError, type ToolApi } from './tool-api.ts';

const path = '/queues/scheduling_policies';
const previewDays = 14;

const time = Type.String({ pattern: timeShape.source, description: 'HH:MM, 00:00 to 24:59' });
const date = Type.String({
  pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$',
  description: 'YYYY-MM-DD, in the time zone of the hours',
});
const exception = Type.Object(
  { date, opens_at: Type.Optional(time), closes_at: Type.Optional(time) },
  { additionalProperties: false, description: 'Other hours on one date; without times it is closed' },
);
const openInterval = Type.Object(
  { opens_at: time, closes_at: time, days_of_week: Type.Array(Type.Enum([...weekdays]), { minItems: 1, maxItems: 7 }) },
  { additionalProperties: false },
);

const changeInput = {
  policy_id: id('The hours; get_hours shows the ids'),
  timezone: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: 'IANA time zone, such as Europe/Tallinn' }),
  ),
  business_hours: Type.Optional(
    Type.Array(openInterval, { minItems: 1, maxItems: 1_000, description: 'Replaces all weekly hours' }),
  ),
  exceptions: Type.Optional(Type.Array(exception, { maxItems: 1_000, description: 'Replaces all exceptions' })),
  set_exceptions: Type.Optional(
    Type.Array(exception, {
      maxItems: 1_000,
      description: 'Sets the exceptions on the dates that it names; other dates keep theirs',
    }),
  ),
  remove_exceptions_on: Type.Optional(
    Type.Array(date, { maxItems: 1_000, description: 'Removes the exceptions on these dates' }),
  ),
};

export const getHours = tool({
  name: 'get_hours',
  title: 'Get opening hours',
  description:
    'Lists opening hours (scheduling policies): time zone, weekly hours, exceptions for dates, and the queues that use them.',
  input: { site_id: siteId, policy_id: Type.Optional(id('Only these hours')), limit: limit(100, 50), cursor },
  output: hoursListOutput,
  changes: null,
  async run(api, { site_id, policy_id, limit: perPage = 50, cursor: page }) {
    const { policies, next } =
      policy_id === undefined
        ? await listPolicies(api, { site_ids: await api.siteIds('super_manager', site_id), per_page: perPage, page })
        : { policies: [await api.get<SchedulingPolicy>(`${path}/${policy_id}`)], next: null };
    const queues = await queuesOf(api, policies);
    const shown = policies.map((policy) => ({
      ...policy,
      queues: queues
        .filter(uses(policy))
        .map(({ id: queueId, name, self_status }) => ({ id: queueId, name, self_status })),
    }));
    const lines = shown.map(
      (policy) =>
        `- ${quote(policy.name)} (${policy.id}), ${policy.timezone}: ${describeHours(policy)}. ${describeQueues(policy.queues)}`,
    );
    return {
      text: [
        `${plural(shown.length, 'scheduling policy', 'scheduling policies')}.`,
        ...lines,
        ...describeNext(next),
      ].join('\n'),
      data: { hours: shown, next_cursor: next },
    };
  },
});

export const previewHoursChange = tool({
  name: 'preview_hours_change',
  title: 'Preview a change of opening hours',
  description:
    'Shows what a change of opening hours would do, and changes nothing: on which days the queues would open and close at other times. Returns the version that change_hours needs. What is left out stays as it is.',
  input: {
    ...changeInput,
    days: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 27,
        description: `Days from today on to compare; default ${previewDays}. Later dates whose exceptions change are compared, too`,
      }),
    ),
  },
  output: hoursPreviewOutput,
  changes: null,
  async run(api, { policy_id, days = previewDays, ...change }) {
    const { policy, after, version } = await readChange(api, policy_id, change);
    const effect = await effectOf(api, { policy, after, days });
    const queues = (await queuesOf(api, [policy])).filter(uses(policy));
    const lines = effect.days.map(
      (day) => `- ${day.date}: ${day.before.join(', ') || 'closed'} → ${day.after.join(', ') || 'closed'}`,
    );
    const now = `Now ${openOrClosed(effect.now.before.open)} → ${openOrClosed(effect.now.after.open)}.`;
    const missed =
      effect.missed.length === 0 ? [] : [`Not compared, because they are too many: ${effect.missed.join(', ')}.`];
    return {
      text: [
        `Preview for ${quote(policy.name)} (${policy.id}); nothing is changed. ${describeQueues(queues)} ${now}`,
        lines.length === 0
          ? 'On the compared days nothing would change.'
          : `Days that would change (${after.timezone}):`,
        ...lines,
        ...missed,
        `To make this change, call change_hours with the same arguments and version ${quote(version)}.`,
      ].join('\n'),
      data: {
        version,
        policy_id: policy.id,
        name: policy.name,
        before: hoursOf(policy),
        after,
        now: effect.now,
        changed_days: effect.days,
        dates_not_compared: effect.missed,
        queues: queues.map(({ id: queueId, name, self_status, visitors_count }) => ({
          id: queueId,
          name,
          self_status,
          waiting: visitors_count,
        })),
      },
    };
  },
});

export const changeHours = tool({
  name: 'change_hours',
  title: 'Change opening hours',
  description:
    'CHANGES: sets the opening hours of all queues that use this policy. Call preview_hours_change first, show its result to the person who asked, and pass the same arguments with the version that it returned. Refused if the hours have changed since, or if the arguments differ.',
  input: {
    ...changeInput,
    version: Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'The version that preview_hours_change returned',
    }),
  },
  output: changedHoursOutput,
  changes: { isDestructive: true, isIdempotent: true, reachesOthers: false },
  async run(api, { policy_id, version: given, ...change }) {
    const { policy, etag, after, version } = await readChange(api, policy_id, change);
    if (version !== given) throw otherVersion(given, etag);
    const changed = await api.put<SchedulingPolicy>(`${path}/${policy_id}`, { name: policy.name, ...after }, etag);
    const queues = (await queuesOf(api, [changed])).filter(uses(changed));
    return {
      text: `Changed ${quote(changed.name)} (${changed.id}), ${changed.timezone}: ${describeHours(changed)}. ${describeQueues(queues)}`,
      data: {
        hours: changed,
        queues: queues.map(({ id: queueId, name, self_status }) => ({ id: queueId, name, self_status })),
      },
    };
  },
});

interface ReadChange {
  readonly policy: SchedulingPolicy;
  readonly etag: string;
  readonly after: Hours;
  readonly version: string;
}

async function readChange(api: ToolApi, policyId: string, change: HoursChange): Promise<ReadChange> {
  if (Object.keys(change).length === 0)
    throw new ToolError(
      'Name what to change: timezone, business_hours, exceptions, set_exceptions or remove_exceptions_on.',
    );
  const { body: policy, etag } = await api.getTagged<SchedulingPolicy>(`${path}/${policyId}`);
  const after = applyChange(policy, change);
  return { policy, etag, after, version: versionOf(policy.id, etag, after) };
}

function otherVersion(given: string, etag: string): ToolError {
  const isSameBase = given.startsWith(`${etag.replaceAll('"', '')}.`);
  return new ToolError(
    isSameBase
      ? 'This is not the change that was previewed. Nothing was changed. Call preview_hours_change with these arguments, and then change_hours with the version that it returns.'
      : 'The hours have changed since the preview, or the version is not of a preview. Nothing was changed. Call preview_hours_change again.',
    { code: 'precondition_failed', status: 412 },
  );
}

interface EffectQuery {
  readonly policy: SchedulingPolicy;
  readonly after: Hours;
  readonly days: number;
}

async function effectOf(api: ToolApi, { policy, after, days }: EffectQuery) {
  const before = hoursOf(policy);
  const today = dateIn(before.timezone, Date.now());
  const { periods, missed } = periodsOf(today, days, changedDates(before, after));
  const outlook = async (hours: Hours, request: object): Promise<HoursOutlook> =>
    api.post<HoursOutlook>(`${path}/preview`, { site_id: policy.site_id, ...hours, ...request });
  const changed = [];
  let now = null;
  for (const period of periods) {
    const request = requestOf(period);
    const both = { before: await outlook(before, request), after: await outlook(after, request) };
    now ??= { before: stateOf(both.before), after: stateOf(both.after) };
    changed.push(...changedDays(period, after.timezone, both));
  }
  if (now === null) throw new Error('there is always a first period');
  return { now, days: changed, missed };
}

function stateOf({ open, next_change_at }: HoursOutlook) {
  return { open, next_change_at };
}

function hoursOf({ timezone, business_hours, exceptions }: Hours): Hours {
  return { timezone, business_hours, exceptions };
}

async function listPolicies(
  api: ToolApi,
  query: Parameters<ToolApi['get']>[1],
): Promise<{ readonly policies: readonly SchedulingPolicy[]; readonly next: string | null }> {
  const { scheduling_policies, next_page } = await api.get<ListSchedulingPoliciesResponse>(path, query);
  return { policies: scheduling_policies, next: cursorOf(next_page) };
}

/** The queues of the sites of these policies. */
async function queuesOf(api: ToolApi, policies: readonly SchedulingPolicy[]): Promise<readonly Queue[]> {
  const sites = [...new Set(policies.map(({ site_id }) => site_id))];
  if (sites.length === 0) return [];
  return (await api.get<ListQueuesResponse>('/queues', { site_ids: sites.join(',') })).queues;
}

function uses({ id: policyId }: SchedulingPolicy): (queue: Queue) => boolean {
  return ({ scheduling_policy_id }) => scheduling_policy_id === policyId;
}

function describeQueues(queues: readonly { readonly name: string }[]): string {
  if (queues.length === 0) return 'No queue uses these hours.';
  return `Used by ${queues.map(({ name }) => quote(name)).join(', ')}.`;
}

function describeHours({ business_hours, exceptions }: Hours): string {
  const weekly = business_hours.map(
    ({ opens_at, closes_at, days_of_week }) => `${days_of_week.join(' ')} ${opens_at}-${closes_at}`,
  );
  const others = exceptions.map(({ date: on, opens_at, closes_at }) =>
    opens_at === undefined ? `${on} closed` : `${on} ${opens_at}-${closes_at ?? ''}`,
  );
  return `${weekly.join('; ')}${others.length === 0 ? '' : `; exceptions: ${others.join(', ')}`}`;
}

function openOrClosed(isOpen: boolean): string {
  return isOpen ? 'open' : 'closed';
}
