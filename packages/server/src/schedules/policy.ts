import { timeShape, weekdays } from '@usher/contract/opening-times';
import Type from 'typebox';
import type { AccountId, SchedulingPolicyId, SiteId } from '../platform/ids.ts';
import { body, checked, description, list, name, nullable, output, put, timestamp, uuid } from '../platform/schema.ts';
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

const fields = {
  name,
  description: Type.Optional(nullable(description)),
  timezone,
  business_hours: list(businessHours, { minItems: 1 }),
  exceptions: Type.Optional(nullable(list(exception))),
};

const readOnly = ['id', 'created_at', 'updated_at'];

export const policyInput = checked(body({ site_id: uuid<'site'>(), ...fields }), hoursRules);
export const policyUpdate = checked(put({ ...fields, site_id: Type.Optional(uuid<'site'>()) }, readOnly), hoursRules);

/** The hours of a policy that may not be stored yet, and from when on they are looked at. */
export const hoursDraft = checked(
  body({
    site_id: uuid<'site'>(),
    timezone,
    business_hours: fields.business_hours,
    exceptions: fields.exceptions,
    from: Type.Optional(Type.String({ format: 'date-time', description: 'In the first day that is shown; none: now' })),
    days: Type.Integer({ minimum: 1, maximum: 31, default: 14 }),
  }),
  hoursRules,
);

/** What the schema cannot say, told together with what it can. */
function hoursRules(given: unknown): ReturnType<typeof hoursViolations> {
  try {
    const policy = given as Partial<HoursPolicy>;
    return [...hoursViolations(policy), ...tooManyToCompile(policy)];
  } catch {
    return []; // Not shaped as the schema demands: it says so itself.
  }
}

/** What compiling a policy costs grows with the week's intervals times the exceptions; so many take some milliseconds. */
const mostCompiled = 100_000;

function tooManyToCompile({
  business_hours = [],
  exceptions,
}: Partial<HoursPolicy>): ReturnType<typeof hoursViolations> {
  const weekly = business_hours.reduce((sum, hours) => sum + hours.days_of_week.length, 0);
  const cost = weekly * (exceptions ?? []).length;
  if (cost <= mostCompiled) return [];
  const detail = `must be fewer: weekly intervals (${weekly}) times exceptions may be ${mostCompiled} at most`;
  return [{ attribute: '/exceptions', detail }];
}

export const policyOutput = output('SchedulingPolicy', {
  id: uuid<'scheduling_policy'>(),
  site_id: uuid<'site'>(),
  name,
  description: nullable(description),
  timezone,
  business_hours: Type.Array(businessHours),
  exceptions: Type.Array(exception),
  created_at: timestamp,
  updated_at: timestamp,
});

type PolicyFields = Pick<Type.Static<typeof policyInput>, 'name' | 'timezone' | 'business_hours'> & {
  readonly description?: string | null;
  readonly exceptions?: Type.Static<typeof exception>[] | null;
};

export interface PolicyRow extends Type.Static<typeof policyOutput> {
  readonly id: SchedulingPolicyId;
  readonly site_id: SiteId;
  readonly account_id: AccountId;
  readonly version: number;
}

export type StoredPolicy = Pick<PolicyRow, 'name' | 'description' | 'timezone' | 'business_hours' | 'exceptions'>;

/** D6.5 as stored and shown: days in week order, the zone in its canonical spelling. What is left out keeps its value. */
export function normalizePolicy(given: PolicyFields, current: StoredPolicy | null): StoredPolicy {
  const { description: text = current?.description ?? null, exceptions = current?.exceptions ?? [] } = given;
  return {
    name: given.name,
    description: text,
    timezone: canonicalTimeZone(given.timezone) ?? given.timezone,
    business_hours: given.business_hours.map((hours) => ({
      ...hours,
      days_of_week: normalizeDays(hours.days_of_week),
    })),
    exceptions: exceptions ?? [],
  };
}
