import { styleText } from 'node:util';
import type { DestinationStream } from 'pino';

type Style = Parameters<typeof styleText>[0];
/** Colours a text, or returns it as it is. */
export type Paint = (style: Style, text: string) => string;

/** Shows the lines of the log as people read them. `styleText` uses no colour if NO_COLOR says so or the terminal has none. */
export function terminalOutput(stream: NodeJS.WriteStream): DestinationStream {
  const paint: Paint = (style, text) => styleText(style, text, { stream });
  return { write: (line) => void stream.write(terminalLine(line, paint)) };
}

interface LoggedError {
  readonly message?: string;
  readonly stack?: string;
  readonly cause?: LoggedError;
}

interface LogLine extends Readonly<Record<string, unknown>> {
  readonly level: string;
  readonly time: string;
  readonly msg?: string;
  readonly err?: LoggedError;
  readonly method?: string;
  readonly route?: string;
  readonly status?: number;
  readonly ms?: number;
  readonly error?: string;
}

/** Fields that are the same in every line, or are shown otherwise. */
const hidden = new Set(['level', 'time', 'host', 'version', 'pid', 'msg', 'err']);

/** A line of the log, which is JSON, for people: `09:30:00 GET /queues 200 1.4 ms` or `09:30:00 warn: a migration waits for a lock`. */
export function terminalLine(json: string, paint: Paint): string {
  const line = JSON.parse(json) as LogLine;
  const time = paint('dim', new Date(line.time).toTimeString().slice(0, 8));
  return `${time} ${line.route === undefined ? described(line, paint) : describedRequest(line, paint)}\n`;
}

function describedRequest({ method = '', route = '', status = 0, ms = 0, error }: LogLine, paint: Paint): string {
  const style = status >= 500 ? 'red' : status >= 400 ? 'yellow' : 'green';
  const reason = error === undefined ? '' : ` ${error}`;
  return `${method} ${route} ${paint(style, `${status}${reason}`)} ${paint('dim', `${ms.toFixed(1)} ms`)}`;
}

function described(line: LogLine, paint: Paint): string {
  const { level, msg = '', err } = line;
  const label =
    level === 'info' ? '' : `${paint(level === 'warn' ? 'yellow' : level === 'debug' ? 'dim' : 'red', level)}: `;
  const fields = Object.entries(line).filter(([name]) => !hidden.has(name));
  const texts = fields.map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const more = texts.length === 0 ? '' : ` ${paint('dim', printable(texts.join(' ')))}`;
  return `${label}${printable(msg)}${more}${err === undefined ? '' : `\n${indented(stackOf(err))}`}`;
}

function stackOf({ stack, message = '', cause }: LoggedError): string {
  return `${stack ?? message}${cause === undefined ? '' : `\ncaused by ${stackOf(cause)}`}`;
}

function indented(text: string): string {
  return text
    .split('\n')
    .map((each) => `  ${printable(each)}`)
    .join('\n');
}

/** Control characters of a logged text must not reach the terminal: they could move its cursor or change its title. */
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`);
}
