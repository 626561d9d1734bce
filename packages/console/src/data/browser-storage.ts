/** What the console uses of a storage. */
type Shelf = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** Firefox has `null` where storage is switched off, and every browser throws where it is blocked. */
function read(kind: 'localStorage' | 'sessionStorage'): Storage | null {
  try {
    return window[kind];
  } catch {
    return null;
  }
}

const values = new Map<string, string>();

/** For this page alone: gone with it. */
const pageShelf: Shelf = {
  getItem: (key) => values.get(key) ?? null,
  setItem: (key, value) => void values.set(key, value),
  removeItem: (key) => void values.delete(key),
};

/** Storage of the browser; where the browser blocks it, of this page. */
export function shelfOf(kind: 'localStorage' | 'sessionStorage'): Shelf {
  return read(kind) ?? pageShelf;
}

/** Removes what is stored under keys that begin so. */
export function clearShelves(beginning: string): void {
  for (const key of [...Object.keys(read('localStorage') ?? {}), ...values.keys()])
    if (key.startsWith(beginning)) shelfOf('localStorage').removeItem(key);
}
