import { parseColour } from './colour.ts';
import { texts } from './texts.ts';

/** The settings in the attributes of the script tag. */
export interface Settings {
  readonly site: string;
  readonly token: string;
  /** The URL of Usher: where the script was loaded from. A proxy may serve Usher under a path. */
  readonly baseUrl: string;
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

/** The path of the script below the URL of Usher. */
const scriptPath = '/widget.js';
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
    baseUrl: baseUrlOf(new URL(source)),
    queues,
    title: textOr(dataset['title'], texts.title),
    greeting: textOr(dataset['greeting'], texts.greeting),
    colour: parseColour(dataset['color'] ?? dataset['colour'] ?? '') ?? defaultColour,
    side: dataset['position'] === 'left' ? 'left' : 'right',
    theme: theme === 'light' || theme === 'dark' ? theme : 'auto',
    asksName: dataset['name'] !== 'off',
  };
}

/** A page with the script inside of it has no path that says where Usher is. */
function baseUrlOf({ origin, pathname }: URL): string {
  return pathname.endsWith(scriptPath) ? `${origin}${pathname.slice(0, -scriptPath.length)}` : origin;
}

function textOr(text: string | undefined, fallback: string): string {
  return text === undefined || text.trim() === '' ? fallback : text.trim();
}
