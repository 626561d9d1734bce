import { timeShape, weekdays } from '@usher/contract/opening-times';
import Type from 'typebox';
import { assigned, fieldsOf, fixed, internal, optional, required } from '../platform/database/fields.ts';
import type { RowOf, SettingsOf } from '../platform/database/fields.ts';
import type { AccountId } from '../platform/ids.ts';
import { body, checked, description, list, name, output, put, timestamp, uuid } from '../platform/schema.ts';
import { datePattern, hoursViolations, normalizeDays, type HoursPolicy } from './business-hours.ts';
import { canonicalTimeZone } from './time-zones.ts';

const time = Type.String({ pattern: timeShape.source, description: 'HH:MM, 00:00 to 24:59' });
const timezone = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'IANA time zone name, such as Europe/Tallinn',
});
const day = Type.String({ pattern: `^(?:${weekdays.map(anyCase).join('|')})$`, description: weekdays.join(', ') });

function anyCase(text: string): string {
  return text.replaceAll(/./g, (letter) => `[${letter}${letter.toUpperCase()}]`);
}

const businessHours = body({
  opens_at: time,
  closes_at: time,
  days_of_week: list(day, { minItems: 1 }),
});

const exception = body({
  date: Type.String({ pattern: datePattern, description: 'YYYY-MM-DD, in the time zone of the policy' }),
  opens_at: Type.Optional(time),
  closes_at: Type.Optional(time),
});

const table = {
  id: assigned(uuid<'scheduling_policy'>()),
  account_id: internal<AccountId>(),
  site_id: fixed(uuid<'site'>()),
  name: required(name),
  description: optional(description, null),
  timezone: required(timezone),
  business_hours: required(list(businessHours, { minItems: 1 }), {
    output: Type.Array(businessHours),
    stored: 'json',
  }),
  exceptions: optional(list(exception), [], { output: Type.Array(exception), stored: 'json' }),
  version: internal<number>(),
  created_at: assigned(timestamp),
  updated_at: assigned(timestamp),
};

export const policyFields = fieldsOf(table);
export const policyInput = checked(body(policyFields.create), hoursRules);
export const policyUpdate = checked(put(policyFields.update, policyFields.readOnly), hoursRules);
export const policyOutput = output('SchedulingPolicy', policyFields.output);

export type PolicyRow = RowOf<typeof table>;
export type StoredPolicy = SettingsOf<typeof table>;

const { site_id, business_hours, exceptions } = policyFields.create;
/** Hours that need not be stored, and the days to preview. */
export const hoursDraft = checked(
  body({
    site_id,
    timezone,
    business_hours,
    exceptions,
    from: Type.Optional(Type.String({ format: 'date-time', description: 'An instant in the first day; default: now' })),
    days: Type.Integer({ minimum: 1, maximum: 31, default: 14 }),
  }),
  hoursRules,
);

/** The rules that the schema cannot express, checked together with the schema so that all violations are reported at once. */
function hoursRules(input: unknown): ReturnType<typeof hoursViolations> {
  try {
    const policy = input as Partial<HoursPolicy>;
    return [...hoursViolations(policy), ...tooManyToCompile(policy)];
  } catch {
    return []; // The input does not fit the schema, which reports that itself.
  }
}

/** Compiling a policy takes time in proportion to weekly intervals times exceptions; this many take a few milliseconds. */
const maxCompileCost = 100_000;

function tooManyToCompile({
  business_hours = [],
  exceptions,
}: Partial<HoursPolicy>): ReturnType<typeof hoursViolations> {
  const weekly = business_hours.reduce((sum, hours) => sum + hours.days_of_week.length, 0);
  const cost = weekly * (exceptions ?? []).length;
  if (cost <= maxCompileCost) return [];
  const detail = `must be fewer: weekly intervals (${weekly}) times exceptions must be at most ${maxCompileCost}`;
  return [{ attribute: '/exceptions', detail }];
}

/** Completes and normalises a policy (D6.5): days in week order, the zone in its canonical spelling. */
export function completePolicy(given: Type.Static<typeof policyUpdate>, current: StoredPolicy | null): StoredPolicy {
  const policy = policyFields.complete(given, current);
  return {
    ...policy,
    timezone: canonicalTimeZone(policy.timezone) ?? policy.timezone,
    business_hours: policy.business_hours.map((hours) => ({
      ...hours,
      days_of_week: normalizeDays(hours.days_of_week),
    })),
  };
}
