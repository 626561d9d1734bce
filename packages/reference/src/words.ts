/** The words of a search: `Create  queue` finds what contains `create` and `queue`, in any order. */
export function wordsOf(search: string): string[] {
  return search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
}
