/** What is dragged or pasted, as far as it is looked at. */
interface Transferred {
  readonly types: readonly string[];
  readonly files: Iterable<File>;
}

/** Whether files are being dragged, and not a text or a link. */
export function hasFiles({ types }: Pick<Transferred, 'types'>): boolean {
  return types.includes('Files');
}

/**
 * The files of a paste. A spreadsheet copies its cells as text, as HTML and as a picture of them: what has both kinds of text is
 * pasted as text. A picture copied from a page comes with HTML alone, a file from a folder with its name as plain text.
 */
export function pastedFiles({ types, files }: Transferred): readonly File[] {
  return types.includes('text/plain') && types.includes('text/html') ? [] : [...files];
}
