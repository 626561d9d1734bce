import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GarbageRequest, Outcome } from './check-answer.ts';

/** A longer body is written to a file. */
const printedBytes = 2_000;

/** A broken promise, as text: what was sent and by whom, what came back, and a command that sends it again. */
export function describeViolation(
  request: GarbageRequest,
  outcome: Outcome | null,
  { fault, url }: { readonly fault: string; readonly url: string },
): string {
  const answers = outcome?.answers.map(({ status, text }) => `${status} ${text.slice(0, 600)}`) ?? [];
  return [
    `${request.operation} as ${request.caller.name}, ${request.changes.join(', ')}: ${fault}`,
    ...answers.map((answer) => `  was answered ${answer}`),
    `  to repeat: ${commandOf(request, url)}`,
  ].join('\n');
}

let folder: string | null = null;
let count = 0;

function fileOf(bytes: Buffer): string {
  folder ??= mkdtempSync(join(tmpdir(), 'usher-garbage-'));
  const path = join(folder, String((count += 1)));
  writeFileSync(path, bytes);
  return path;
}

/** A shell command that sends the request again, with the caller's token in `$token`. */
function commandOf({ method, target, headers, body, wire }: GarbageRequest, url: string): string {
  const { hostname, port } = new URL(url);
  if (wire !== null) return `nc ${hostname} ${port} < ${fileOf(wire.bytes)}`;
  const parts = ['curl', '-i', '--path-as-is', '-g', '-X', quoted(method), quoted(`${url}${target}`)];
  for (const [name, value] of headers) {
    const shown = value.replace(/[\w-]{20,}\.[\w-]{20,}\.[\w-]{20,}/, `'"$token"'`);
    parts.push('-H', shown === value ? quoted(value === '' ? `${name};` : `${name}: ${value}`) : `'${name}: ${shown}'`);
  }
  if (body !== null) {
    const text = body.toString();
    const isPlain = body.length <= printedBytes && !text.includes('\0') && Buffer.from(text).equals(body);
    parts.push('--data-binary', isPlain ? quoted(text) : `@${fileOf(body)}`);
  }
  return parts.join(' ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
