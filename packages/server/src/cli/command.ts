import { parseArgs, type ParseArgsConfig } from 'node:util';
import type { Config } from '../config.ts';
import { StartError } from '../platform/errors.ts';

export type Options = NonNullable<ParseArgsConfig['options']>;
type Parsed<Flags extends Options> = ReturnType<
  typeof parseArgs<{ args: string[]; options: Flags; strict: true; allowPositionals: true }>
>;
export type Values<Flags extends Options> = Parsed<Flags>['values'];

/** A mistake in the command line. The program exits with `usageExitCode`, so that a script can tell it from a failure. */
export class UsageError extends StartError {}

/** EX_USAGE of sysexits.h. 1 is a failure, and 2 says that there are changes (`config plan`, `migrate --check`). */
export const usageExitCode = 64;
export const changesExitCode = 2;

export interface Command<Flags extends Options = Options> {
  /** What `usher <command> --help` prints. Its first line is the usage. */
  readonly help: string;
  readonly options: Flags;
  /** Names of the arguments that are not options: `<name>` must be given, `[name]` may be. */
  readonly arguments?: readonly string[];
  run(config: Config, flags: Values<Flags>, ...given: string[]): Promise<void>;
}

/** Keeps the types of the options for `run`. */
export function command<const Flags extends Options>(definition: Command<Flags>): Command<Flags> {
  return definition;
}

const helpOption = { help: { type: 'boolean', short: 'h', default: false } } as const;

/** `null` if the command line asks for help. */
export function parseCommandLine<Flags extends Options>(
  name: string,
  { options, arguments: names = [] }: Command<Flags>,
  args: readonly string[],
): { readonly flags: Values<Flags>; readonly given: readonly string[] } | null {
  const { values, positionals } = parse(name, { ...options, ...helpOption }, args);
  if (values['help'] === true) return null;
  const missing = names[positionals.length];
  if (missing?.startsWith('<') === true)
    throw new UsageError(`The argument ${missing} is missing. See usher ${name} --help.`);
  const [unexpected] = positionals.slice(names.length);
  if (unexpected !== undefined) throw new UsageError(`Unexpected argument "${unexpected}". See usher ${name} --help.`);
  return { flags: values as Values<Flags>, given: positionals };
}

function parse(name: string, options: Options, args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: true });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // The first sentence of the message says what is wrong; the rest is for programmers.
    const fault = error.message.split(/\.\s|\n/)[0]?.replace(/\.$/, '') ?? '';
    throw new UsageError(`${fault}. See usher ${name} --help.`, { cause: error });
  }
}

/** Prints a value: as JSON for programs, otherwise as text for people. */
export function print(isJson: boolean, value: unknown, text: string): void {
  process.stdout.write(isJson ? `${JSON.stringify(value)}\n` : text);
}
