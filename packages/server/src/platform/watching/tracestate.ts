/** W3C Trace Context, tracestate: `key=value` members of several vendors, in a list. */

const maxMembers = 32;
/** What must be passed on at least, and here at most: the state is stored with every event of its request. */
const maxLength = 512;
/** If the list is too long, members longer than this are left out first. */
const longMember = 128;

const key = /^(?:[a-z\d][\w\-*/]{0,255}|[a-z\d][\w\-*/]{0,240}@[a-z][\w\-*/]{0,13})$/;
const upperCase = /[A-Z]/;
/** Printable ASCII characters, the last of which is not a space. */
const value = /^[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/** `null`: there is none, or it is invalid, which the specification has discarded as a whole. */
export function readTracestate(header: unknown): string | null {
  if (typeof header !== 'string') return null;
  const members = header.split(',', 2 * maxMembers + 1).map((member) => member.trim());
  const given = members.filter((member) => member !== '');
  if (given.length === 0 || members.length > 2 * maxMembers || given.length > maxMembers) return null;
  return given.every(isMember) ? shorten(given) : null;
}

function isMember(member: string): boolean {
  const at = member.indexOf('=');
  const name = member.slice(0, Math.max(at, 0));
  return key.test(name) && !upperCase.test(name) && value.test(member.slice(at + 1));
}

/** The newest members are at the beginning, so the last ones are left out. Only whole members are. */
function shorten(members: readonly string[]): string | null {
  const lengthOf = (list: readonly string[]): number => list.join(',').length;
  const kept = lengthOf(members) > maxLength ? members.filter(({ length }) => length <= longMember) : [...members];
  while (lengthOf(kept) > maxLength) kept.pop();
  return kept.length === 0 ? null : kept.join(',');
}
