/** The time zones to choose from: those of the browser, and those in use that it may not list. */
export function zoneNames(...others: readonly string[]): string[] {
  return [...new Set(['UTC', ...others, ...Intl.supportedValuesOf('timeZone')])]
    .filter((name) => name !== '')
    .toSorted();
}

/** A search finds `Europe/Tallinn` by `tallinn`, `New_York` by `new york`. */
export function isFound(name: string, search: string): boolean {
  const plain = (text: string): string => text.toLowerCase().replaceAll(/[_/ ]+/g, ' ');
  return plain(name).includes(plain(search.trim()));
}

/** `GMT+2`: the UTC offset at an instant; empty for a zone that the browser does not know. */
export function offsetOf(name: string, at: number): string {
  try {
    const formatParts = new Intl.DateTimeFormat('en', { timeZone: name, timeZoneName: 'shortOffset' }).formatToParts(
      at,
    );
    return formatParts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
  } catch {
    return '';
  }
}
