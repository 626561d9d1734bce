/** The parts of a `DataTransfer` that are used. */
interface DroppedData {
  readonly types: readonly string[];
  readonly files: Iterable<File>;
}

/** Whether files are dragged, and not text or a link. */
export function hasFiles({ types }: Pick<DroppedData, 'types'>): boolean {
  return types.includes('Files');
}

/**
 * The files of a paste. A spreadsheet copies cells as plain text, HTML and a picture, so a paste with both kinds of text is pasted as
 * text. A picture from a page comes with HTML only, a file from a folder with plain text only (its name).
 */
export function pastedFiles({ types, files }: DroppedData): readonly File[] {
  return types.includes('text/plain') && types.includes('text/html') ? [] : [...files];
}
