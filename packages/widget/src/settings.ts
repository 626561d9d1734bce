import { parseColour } from './colour.ts';
import { texts } from './texts.ts';

/** The settings in the attributes of the script tag. */
export interface Settings {
  readonly site: string;
  readonly token: string;
  /** The origin of Usher: where the script was loaded from. */
  readonly origin: string;
  /** Ids of queues. Empty: all queues of the site. */
  readonly queues: readonly string[];
  readonly title: string;
  readonly greeting: string;
  readonly colour: string;
  readonly side: 'left' | 'right';
  readonly theme: 'auto' | 'light' | 'dark';
  /** Whether visitors are asked for their name. */
  readonly asksName: boolean;
}

const defaultColour = '#1f5fbf';

/** `null`: the tag has no site or no token. */
export function readSettings(dataset: Readonly<Record<string, string | undefined>>, source: string): Settings | null {
  const { site = '', token = '' } = dataset;
  if (site.trim() === '' || token.trim() === '') return null;
  const queues = (dataset['queues'] ?? dataset['queue'] ?? '').split(/[\s,]+/).filter((id) => id !== '');
  const { theme } = dataset;
  return {
    site: site.trim(),
    token: token.trim(),
    origin: new URL(source).origin,
    queues,
    title: textOr(dataset['title'], texts.title),
    greeting: textOr(dataset['greeting'], texts.greeting),
    colour: parseColour(dataset['color'] ?? dataset['colour'] ?? '') ?? defaultColour,
    side: dataset['position'] === 'left' ? 'left' : 'right',
    theme: theme === 'light' || theme === 'dark' ? theme : 'auto',
    asksName: dataset['name'] !== 'off',
  };
}

function textOr(text: string | undefined, fallback: string): string {
  return text === undefined || text.trim() === '' ? fallback : text.trim();
}
