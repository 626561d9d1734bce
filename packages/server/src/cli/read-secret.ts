import { text } from 'node:stream/consumers';
import { StartError } from '../platform/errors.ts';

const enter = new Set(['\r', '\n', '\u0004']);
const erase = new Set(['\u007F', '\b']);
const interrupt = '\u0003';

/** Asks for a secret on the terminal without showing it, or reads it from a pipe. */
export async function readSecret(question: string): Promise<string> {
  const { stdin } = process;
  if (!stdin.isTTY) return (await text(stdin)).trim();
  // Before the question, so that nothing is shown of an answer that comes at once.
  stdin.setRawMode(true);
  process.stderr.write(question);
  try {
    return (await readLine(stdin)).trim();
  } finally {
    stdin.setRawMode(false);
    process.stderr.write('\n');
  }
}

async function readLine(stdin: NodeJS.ReadStream): Promise<string> {
  stdin.setEncoding('utf8');
  let line = '';
  for await (const chunk of stdin.iterator({ destroyOnReturn: false }) as AsyncIterable<string>)
    for (const character of chunk) {
      if (enter.has(character)) return line;
      if (character === interrupt) throw new StartError('Interrupted.');
      line = erase.has(character) ? line.slice(0, -1) : line + character;
    }
  return line;
}
