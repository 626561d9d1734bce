import { media, type Medium } from '@usher/contract/media';
import { weekdays, type Weekday } from '@usher/contract/opening-times';

/** The content of sample data, before it has ids. Everything is named as a sample, so that nobody takes it for real data. */

export const siteName = 'Sample shop';
export const timeZone = 'Europe/London';

export const teams = {
  sales: { name: 'Sales (sample)', description: 'Answers questions about products' },
  support: { name: 'Support (sample)', description: 'Helps with orders and accounts' },
  billing: { name: 'Returns and billing (sample)', description: 'Handles returns and refunds on weekdays' },
  advice: { name: 'Video advice (sample)', description: 'Advises customers by video' },
} as const;

export type TeamName = keyof typeof teams;

interface Player {
  readonly name: string;
  readonly teams: readonly TeamName[];
  readonly maxEngagements: number;
  readonly media: readonly Medium[];
  /** Stays available while a real operator is available. The others go away, so that the real operator gets visitors. */
  readonly stays: boolean;
}

/** Sample operators, in the order of the ids in the row of `sample_data`. */
export const players: readonly Player[] = [
  { name: 'Amara', teams: ['sales'], maxEngagements: 3, media: ['text'], stays: true },
  { name: 'Bo', teams: ['sales', 'support'], maxEngagements: 2, media: ['text', 'audio'], stays: false },
  { name: 'Chiara', teams: ['sales'], maxEngagements: 2, media: ['text'], stays: false },
  { name: 'Dmitri', teams: ['support'], maxEngagements: 2, media: ['text', 'audio'], stays: true },
  { name: 'Eun-ji', teams: ['support', 'advice'], maxEngagements: 3, media, stays: false },
  { name: 'Farid', teams: ['support', 'billing'], maxEngagements: 2, media: ['text', 'phone', 'audio'], stays: false },
  { name: 'Grace', teams: ['billing'], maxEngagements: 1, media: ['text', 'phone'], stays: true },
  { name: 'Henrik', teams: ['advice'], maxEngagements: 1, media, stays: true },
];

const working: readonly Weekday[] = ['mon', 'tue', 'wed', 'thu', 'fri'];

export type PolicyName = 'weekdays' | 'overnight' | 'always';

interface ScenePolicy {
  name: string;
  description: null;
  timezone: string;
  business_hours: { opens_at: string; closes_at: string; days_of_week: Weekday[] }[];
  exceptions: { date: string; opens_at?: string; closes_at?: string }[];
}

/** At any time, at least one policy is closed and one is open. */
export function policies(now: Date): Readonly<Record<PolicyName, ScenePolicy>> {
  const next = (monthAndDay: string): string => {
    const year = now.getUTCFullYear();
    const date = `${year}-${monthAndDay}`;
    return date > now.toISOString().slice(0, 10) ? date : `${year + 1}-${monthAndDay}`;
  };
  const policy = (name: string, business_hours: ScenePolicy['business_hours']): ScenePolicy => ({
    name: `${name} (sample)`,
    description: null,
    timezone: timeZone,
    business_hours,
    exceptions: [],
  });
  return {
    weekdays: {
      ...policy('Weekdays', [{ opens_at: '09:00', closes_at: '18:00', days_of_week: [...working] }]),
      exceptions: [{ date: next('12-25') }, { date: next('12-24'), opens_at: '09:00', closes_at: '13:00' }],
    },
    overnight: policy('Overnight', [{ opens_at: '22:00', closes_at: '06:00', days_of_week: [...weekdays] }]),
    always: policy('Always', [{ opens_at: '00:00', closes_at: '24:00', days_of_week: [...weekdays] }]),
  };
}

const welcomeCard = JSON.stringify({
  content: 'Welcome to the sample shop! What is it about?',
  attachment: {
    type: 'single_choice',
    options: [
      { text: 'A product', value: 'product' },
      { text: 'Delivery', value: 'delivery' },
      { text: 'Something else', value: 'other' },
    ],
  },
});

export interface SceneQueue {
  readonly name: string;
  readonly description: string;
  readonly capacity: { type: 'fixed'; capacity: number } | { type: 'variable'; multiplier: number };
  readonly media: Medium[];
  /** Teams whose visitors the queue accepts and whose operators serve it; empty: all of the site. */
  readonly teams: readonly TeamName[];
  readonly policy: PolicyName;
  /** The name of the fallback queue, which must be earlier in the list. */
  readonly fallback?: string;
  readonly welcome?: string;
  readonly acceptsUnstaffed?: true;
  /** Indexes in `players`, best rank first. */
  readonly ranked?: readonly number[];
  /** Percentage of visitors who choose this queue. */
  readonly share: number;
}

/** Each queue comes after its fallback: sales → support → overflow. */
export const queues: readonly SceneQueue[] = [
  {
    name: 'Overflow (sample)',
    description: 'Accepts visitors when other queues are full',
    capacity: { type: 'fixed', capacity: 30 },
    media: ['text'],
    teams: [],
    policy: 'always',
    acceptsUnstaffed: true,
    share: 5,
  },
  {
    name: 'Support (sample)',
    description: 'Served by all teams; at most 12 visitors wait, others go to Overflow',
    capacity: { type: 'fixed', capacity: 12 },
    media: ['text', 'audio'],
    teams: [],
    policy: 'always',
    fallback: 'Overflow (sample)',
    share: 35,
  },
  {
    name: 'Sales (sample)',
    description: 'At most two visitors per operator wait; others go to Support',
    capacity: { type: 'variable', multiplier: 2 },
    media: ['text'],
    teams: ['sales'],
    policy: 'always',
    fallback: 'Support (sample)',
    welcome: welcomeCard,
    ranked: [0, 2, 1],
    share: 40,
  },
  {
    name: 'Returns and billing (sample)',
    description: 'Open on weekdays',
    capacity: { type: 'fixed', capacity: 6 },
    media: ['text', 'phone'],
    teams: ['billing'],
    policy: 'weekdays',
    welcome: 'Hello, this is the sample shop. Have your order number at hand.',
    share: 10,
  },
  {
    name: 'Video advice (sample)',
    description: 'Advice by audio or video',
    capacity: { type: 'fixed', capacity: 3 },
    media: ['audio', 'video'],
    teams: ['advice'],
    policy: 'always',
    ranked: [7],
    share: 6,
  },
  {
    name: 'Night desk (sample)',
    description: 'Open overnight, closed during the day',
    capacity: { type: 'variable', multiplier: 1.5 },
    media: ['text'],
    teams: ['support'],
    policy: 'overnight',
    share: 4,
  },
];

/** An address that cannot exist (RFC 2606), unique across accounts and earlier sample data. */
export function emailOf(player: Player, id: string): string {
  return `${player.name.toLowerCase()}.${id.slice(0, 8)}@sample.example.com`;
}

export const visitorNames = [
  'Ada', 'Babak', 'Camille', 'Deniz', 'Esi', 'Finn', 'Giulia', 'Hana', 'Ivo', 'Jonas', 'Kaja', 'Lars', 'Mei', 'Noor',
  'Oskar', 'Priya', 'Quentin', 'Rosa', 'Sven', 'Tala', 'Ulla', 'Viktor', 'Wanda', 'Xenia', 'Yusuf', 'Zoé',
] as const; // prettier-ignore
