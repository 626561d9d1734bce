/** The methods of a storage that the console uses. */
type KeyValueStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** Firefox returns `null` where storage is disabled; all browsers throw where it is blocked. */
function read(kind: 'localStorage' | 'sessionStorage'): Storage | null {
  try {
    return window[kind];
  } catch {
    return null;
  }
}

const values = new Map<string, string>();

/** Storage in memory, for this page only. */
const memoryStorage: KeyValueStorage = {
  getItem: (key) => values.get(key) ?? null,
  setItem: (key, value) => void values.set(key, value),
  removeItem: (key) => void values.delete(key),
};

/** The browser's storage, or storage in memory where the browser blocks it. */
export function storageOf(kind: 'localStorage' | 'sessionStorage'): KeyValueStorage {
  return read(kind) ?? memoryStorage;
}

/** Removes all entries whose key has this prefix. */
export function clearStorage(prefix: string): void {
  for (const key of [...Object.keys(read('localStorage') ?? {}), ...values.keys()])
    if (key.startsWith(prefix)) storageOf('localStorage').removeItem(key);
}
