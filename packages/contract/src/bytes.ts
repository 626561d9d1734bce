/** How many bytes a text has in UTF-8. */
export function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}
