import { headerFaults, headerLimits, headerPointer, headerSizeFault } from '@usher/contract/webhook-headers';
import { texts } from '../texts.ts';

/** Errors by JSON pointer, of the server or of the channel's inputs; `null` if there are none. */
export type Found = readonly [pointer: string, fault: string | null];

export interface Header {
  readonly name: string;
  readonly value: string;
}

type Entry = readonly [name: string, value: string];
const entryOf = ({ name, value }: Header): Entry => [name, value];

export function headersFaults(all: readonly Header[]): Found[] {
  return [
    ...all.map((header): Found => [headerPointer(header.name), headerFault(header, all)]),
    // After the errors of single headers, whose pointers are below this one.
    ['/headers', togetherFault(all)],
  ];
}

function headerFault(header: Header, all: readonly Header[]): string | null {
  const [fault] = headerFaults(entryOf(header), all.map(entryOf));
  if (fault !== undefined) return fault;
  return all.filter(({ name }) => name === header.name).length > 1 ? texts.listedTwice : null;
}

function togetherFault(all: readonly Header[]): string | null {
  if (all.length > headerLimits.count) return texts.atMostHeaders(headerLimits.count);
  return headerSizeFault(all.map(entryOf));
}
