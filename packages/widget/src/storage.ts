/**
 * A storage area of the browser, under a prefix of the site. If the browser allows no storage, values are kept in memory until the
 * page is closed.
 */
export class Storage {
  readonly #area: globalThis.Storage | Map<string, string>;
  readonly #prefix: string;

  constructor(prefix: string, area: () => globalThis.Storage) {
    this.#prefix = prefix;
    this.#area = openArea(area) ?? new Map();
  }

  get<T>(name: string, isValid: (value: unknown) => value is T): T | null {
    const key = this.#prefix + name;
    try {
      const text = this.#area instanceof Map ? this.#area.get(key) : this.#area.getItem(key);
      const value: unknown = JSON.parse(text ?? 'null');
      return isValid(value) ? value : null;
    } catch {
      return null;
    }
  }

  set(name: string, value: unknown): void {
    const key = this.#prefix + name;
    const text = JSON.stringify(value);
    try {
      if (this.#area instanceof Map) this.#area.set(key, text);
      else this.#area.setItem(key, text);
    } catch {
      // The area is full. The value is lost after a reload.
    }
  }

  remove(name: string): void {
    const key = this.#prefix + name;
    if (this.#area instanceof Map) this.#area.delete(key);
    else this.#area.removeItem(key);
  }

  /** The stored names with this prefix. */
  names(prefix: string): string[] {
    const start = this.#prefix + prefix;
    const keys = this.#area instanceof Map ? [...this.#area.keys()] : Object.keys(this.#area);
    return keys.filter((key) => key.startsWith(start)).map((key) => key.slice(this.#prefix.length));
  }

  /** Calls `changed` with the name of a value that another tab changed; `null`: the tab cleared everything. */
  watch(changed: (name: string | null) => void): void {
    window.addEventListener('storage', ({ key, storageArea }) => {
      if (storageArea !== this.#area) return;
      if (key === null) changed(null);
      else if (key.startsWith(this.#prefix)) changed(key.slice(this.#prefix.length));
    });
  }
}

/** `null`: the browser allows no storage. */
function openArea(area: () => globalThis.Storage): globalThis.Storage | null {
  try {
    const opened = area();
    opened.setItem('usher', 'usher');
    opened.removeItem('usher');
    return opened;
  } catch {
    return null;
  }
}
