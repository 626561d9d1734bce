/**
 * What is kept in the visitor's browser, under names of the site's own. Where pages may keep nothing, it is kept for as long
 * as the page lasts.
 */
export class Storage {
  readonly #area: globalThis.Storage | Map<string, string>;
  readonly #prefix: string;

  constructor(prefix: string, area: () => globalThis.Storage) {
    this.#prefix = prefix;
    this.#area = usable(area) ?? new Map();
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
      // It is full: a reload will have forgotten.
    }
  }

  remove(name: string): void {
    const key = this.#prefix + name;
    if (this.#area instanceof Map) this.#area.delete(key);
    else this.#area.removeItem(key);
  }

  /** Names that begin so. */
  names(beginning: string): string[] {
    const start = this.#prefix + beginning;
    const keys = this.#area instanceof Map ? [...this.#area.keys()] : Object.keys(this.#area);
    return keys.filter((key) => key.startsWith(start)).map((key) => key.slice(this.#prefix.length));
  }

  /** Calls `changed` with the name of what another tab has changed; `null`: everything. */
  watch(changed: (name: string | null) => void): void {
    window.addEventListener('storage', ({ key, storageArea }) => {
      if (storageArea !== this.#area) return;
      if (key === null) changed(null);
      else if (key.startsWith(this.#prefix)) changed(key.slice(this.#prefix.length));
    });
  }
}

function usable(area: () => globalThis.Storage): globalThis.Storage | null {
  try {
    const found = area();
    found.setItem('usher', 'usher');
    found.removeItem('usher');
    return found;
  } catch {
    return null;
  }
}
