import fc from 'fast-check';

/** Texts that resemble a format and mostly violate it. A validator that is too lenient accepts them. */
const misses: Readonly<Record<string, readonly ((id: string) => string)[]>> = {
  uuid: [
    (id) => id.toUpperCase(),
    (id) => `urn:uuid:${id}`,
    (id) => `URN:UUID:${id}`,
    (id) => ` ${id}`,
    (id) => `${id} `,
    (id) => `${id}\n`,
    (id) => `"${id}"`,
    (id) => `{${id}}`,
    (id) => id.replaceAll('-', ''),
    (id) => id.replaceAll('-', '').replaceAll(/(.{4})(?=.)/g, '$1-'),
    (id) => `${id}-`,
    (id) => `${id}0`,
    (id) => id.slice(0, -1),
    (id) => `g${id.slice(1)}`,
    (id) => `\uFF10${id.slice(1)}`,
    (id) => `${id},${id}`,
  ],
  'date-time': [
    '2026-02-28T09:00:00Z',
    '2026-02-30T09:00:00Z',
    '2026-02-28T24:00:00Z',
    '2026-02-28T24:00:01Z',
    '2016-12-31T23:59:60Z',
    '2026-02-28T09:00:60Z',
    '2026-02-28T09:00:00',
    '2026-02-28 09:00:00Z',
    '2026-02-28t09:00:00z',
    '2026-02-28T09:00Z',
    '2026-02-28T09:00:00+25:00',
    '2026-02-28T09:00:00+15:59',
    '2026-02-28T09:00:00+23:59',
    '2026-02-28T09:00:00-0000',
    '2026-02-28T09:00:00.123456789123Z',
    '2026-02-28T09:00:00,5Z',
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00+14:00',
    '9999-12-31T23:59:59-12:00',
    '-0001-01-01T00:00:00Z',
    '+275760-09-13T00:00:00.001Z',
    '294277-01-01T00:00:00Z',
    'infinity',
    '-infinity',
    'now',
    'epoch',
    '1767225600',
    '20260228T090000Z',
    '2026-W09-6T09:00:00Z',
    '2026-059T09:00:00Z',
    ' 2026-02-28T09:00:00Z',
    '2026-02-28T09:00:00Z\n',
    '\uFF12026-02-28T09:00:00Z',
  ].map((text) => () => text),
  email: ['a@b', 'a@b.example', '@b.example', 'a@', 'a b@c.example', 'a@b@c.example', '"a b"@c.example', 'a@[::1]', 'ä@b.example', 'a@b.example\n', `${'a'.repeat(300)}@b.example`].map((text) => () => text), // prettier-ignore
  uri: ['https://a.example', 'https://', 'https:a.example', '//a.example', 'https://a.example:99999', 'https://[::1', 'https://a.example/%zz', 'https://a.example/ b', 'javascript:1', 'https://a.example\n', 'https://u:p@a.example', 'https://ä.example'].map((text) => () => text), // prettier-ignore
  origin: ['https://a.example', 'https://a.example/', 'https://a.example:443', 'HTTPS://a.example', 'null', '*', 'ftp://a.example', 'https://*.example', 'https://a.example\n'].map((text) => () => text), // prettier-ignore
  'time-zone': ['UTC', 'Europe/Tallinn', 'europe/tallinn', 'Europe/Nowhere', '+02:00', 'EST5EDT', 'Etc/GMT+20', 'Europe/Tallinn ', 'posixrules', 'localtime', 'Factory', '../UTC'].map((text) => () => text), // prettier-ignore
  // The format describes bytes, so any text is fine.
  binary: [(id) => id],
};

/** Throws for a format without near misses: add them above. */
function missesOf(format: string): readonly ((id: string) => string)[] {
  const made = misses[format];
  if (made === undefined) throw new Error(`add near misses of the format ${format} to test/support/api/near-misses.ts`);
  return made;
}

/** Near misses of a format, made of the given ids and of others. */
export function nearMisses(format: string, ids: readonly string[]): fc.Arbitrary<string> {
  const id = fc.oneof(fc.constantFrom(...ids), fc.uuid());
  return fc.tuple(id, fc.constantFrom(...missesOf(format))).map(([text, miss]) => miss(text));
}

/** Every near miss of a format that is made of this id. */
export function nearMissesOf(format: string, id: string): string[] {
  return missesOf(format).map((miss) => miss(id));
}
