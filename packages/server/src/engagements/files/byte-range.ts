import { Refusal } from '../../platform/errors.ts';

/** A part of a file, from the first to the last byte. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

interface RangeRequest {
  readonly range: string | undefined;
  readonly ifRange: string | string[] | undefined;
}

/**
 * The part of the file that a request asks for, to continue a download. `null`: the whole file, also for what RFC 9110 lets a server ignore:
 * several ranges, units other than bytes, and a version that is not the file's.
 */
export function requestedRange(
  { range, ifRange }: RangeRequest,
  { bytes, etag }: { readonly bytes: number; readonly etag: string },
): ByteRange | null {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range ?? '') ?? [];
  if (first === '' && last === '') return null;
  if (ifRange !== undefined && ifRange !== etag) return null;
  // `-500` asks for the last 500 bytes.
  const start = first === '' ? Math.max(0, bytes - Number(last)) : Number(first);
  const end = first === '' || last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1);
  if (first !== '' && last !== '' && Number(last) < Number(first)) return null;
  if (start >= bytes)
    throw new Refusal('range_not_satisfiable', `The file has ${bytes} bytes. Ask for bytes that it has.`, {
      headers: { 'content-range': `bytes */${bytes}` },
    });
  return { start, end };
}
