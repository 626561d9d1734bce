import { media, type Medium } from '@usher/contract/media';
import { weekdays, type Weekday } from '@usher/contract/opening-times';

/** What sample data consists of, before it has ids. Everything is named for what it is: a user must never take it for real. */

export const siteName = 'Sample shop';
export const timeZone = 'Europe/London';

export const teams = {
  sales: { name: 'Sales (sample)', description: 'Answers questions before somebody buys' },
  support: { name: 'Support (sample)', description: 'Helps with orders and accounts' },
  billing: { name: 'Returns and billing (sample)', description: 'Sends money back, during office hours' },
  advice: { name: 'Video advice (sample)', description: 'Shows things, face to face' },
} as const;

export type TeamName = keyof typeof teams;

interface Player {
  readonly name: string;
  readonly teams: readonly TeamName[];
  readonly most: number;
  readonly media: readonly Medium[];
  /** Stays at work when somebody real is there as well; the others leave them some of the visitors. */
  readonly stays: boolean;
}

/** Sample operators, in the order of the ids in the row of `sample_data`. */
export const players: readonly Player[] = [
  { name: 'Amara', teams: ['sales'], most: 3, media: ['text'], stays: true },
  { name: 'Bo', teams: ['sales', 'support'], most: 2, media: ['text', 'audio'], stays: false },
  { name: 'Chiara', teams: ['sales'], most: 2, media: ['text'], stays: false },
  { name: 'Dmitri', teams: ['support'], most: 2, media: ['text', 'audio'], stays: true },
  { name: 'Eun-ji', teams: ['support', 'advice'], most: 3, media, stays: false },
  { name: 'Farid', teams: ['support', 'billing'], most: 2, media: ['text', 'phone', 'audio'], stays: false },
  { name: 'Grace', teams: ['billing'], most: 1, media: ['text', 'phone'], stays: true },
  { name: 'Henrik', teams: ['advice'], most: 1, media, stays: true },
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

/** Whatever the hour, at least one of them is closed and one is open. */
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
  /** Whose visitors it takes and who serves it; none: everybody on the site. */
  readonly teams: readonly TeamName[];
  readonly policy: PolicyName;
  /** Where this one leads: the name of a queue above it. */
  readonly fallback?: string;
  readonly welcome?: string;
  readonly takesAnyway?: true;
  /** Places of sample operators in `players`, best first. */
  readonly ranked?: readonly number[];
  /** Of a hundred visitors, how many ask for it. */
  readonly share: number;
}

/** Each after the one it falls back to: sales → support → overflow. */
export const queues: readonly SceneQueue[] = [
  {
    name: 'Overflow (sample)',
    description: 'Takes whoever finds no room elsewhere',
    capacity: { type: 'fixed', capacity: 30 },
    media: ['text'],
    teams: [],
    policy: 'always',
    takesAnyway: true,
    share: 5,
  },
  {
    name: 'Support (sample)',
    description: 'For everybody, by everybody; a fixed number may wait, the rest goes to Overflow',
    capacity: { type: 'fixed', capacity: 12 },
    media: ['text', 'audio'],
    teams: [],
    policy: 'always',
    fallback: 'Overflow (sample)',
    share: 35,
  },
  {
    name: 'Sales (sample)',
    description: 'Twice as many as there are operators may wait; the rest goes to Support',
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
    description: 'Face to face',
    capacity: { type: 'fixed', capacity: 3 },
    media: ['audio', 'video'],
    teams: ['advice'],
    policy: 'always',
    ranked: [7],
    share: 6,
  },
  {
    name: 'Night desk (sample)',
    description: 'Open overnight, and by day closed by its hours',
    capacity: { type: 'variable', multiplier: 1.5 },
    media: ['text'],
    teams: ['support'],
    policy: 'overnight',
    share: 4,
  },
];

/** An address nobody can have (RFC 2606), and that no other account's or earlier set of sample data has. */
export function emailOf(player: Player, id: string): string {
  return `${player.name.toLowerCase()}.${id.slice(0, 8)}@sample.example.com`;
}

export const visitorNames = [
  'Ada', 'Babak', 'Camille', 'Deniz', 'Esi', 'Finn', 'Giulia', 'Hana', 'Ivo', 'Jonas', 'Kaja', 'Lars', 'Mei', 'Noor',
  'Oskar', 'Priya', 'Quentin', 'Rosa', 'Sven', 'Tala', 'Ulla', 'Viktor', 'Wanda', 'Xenia', 'Yusuf', 'Zoé',
] as const; // prettier-ignore
