import { readFileSync } from 'node:fs';
import { packageFile } from '../package-files.ts';

/** A recorded request and its answer: `npm run openapi` records them, and the test of access checks that they are still what is answered. */
export interface Example {
  /** The JSON body of the request. */
  readonly request?: unknown;
  readonly status: number;
  /** The headers of the answer that clients need, by lower-case name. */
  readonly headers: readonly string[];
  /** The JSON body of the answer. */
  readonly response?: unknown;
}

export type Examples = Readonly<Partial<Record<string, Example>>>;

/** By method and path. Read when openapi.json is requested, which is rare. */
export const examplesFile = packageFile('api-examples.json');

export function readExamples(): Examples {
  return JSON.parse(readFileSync(examplesFile, 'utf8')) as Examples;
}
