import { colourOf } from './colour.ts';
import { words } from './words.ts';

/** What the script tag says. */
export interface Settings {
  readonly site: string;
  readonly token: string;
  /** Where Usher is: where the script itself came from. */
  readonly origin: string;
  /** None: any queue of the site. */
  readonly queues: readonly string[];
  readonly title: string;
  readonly greeting: string;
  readonly colour: string;
  readonly side: 'left' | 'right';
  readonly theme: 'auto' | 'light' | 'dark';
  /** Whether the visitor is asked for a name before. */
  readonly asksName: boolean;
}

const usualColour = '#1f5fbf';

/** `null`: the tag does not say whose widget it is. */
export function readSettings(given: Readonly<Record<string, string | undefined>>, source: string): Settings | null {
  const { site = '', token = '' } = given;
  if (site.trim() === '' || token.trim() === '') return null;
  const queues = (given['queues'] ?? given['queue'] ?? '').split(/[\s,]+/).filter((id) => id !== '');
  const { theme } = given;
  return {
    site: site.trim(),
    token: token.trim(),
    origin: new URL(source).origin,
    queues,
    title: orElse(given['title'], words.title),
    greeting: orElse(given['greeting'], words.greeting),
    colour: colourOf(given['color'] ?? given['colour'] ?? '') ?? usualColour,
    side: given['position'] === 'left' ? 'left' : 'right',
    theme: theme === 'light' || theme === 'dark' ? theme : 'auto',
    asksName: given['name'] !== 'off',
  };
}

function orElse(text: string | undefined, other: string): string {
  return text === undefined || text.trim() === '' ? other : text.trim();
}
