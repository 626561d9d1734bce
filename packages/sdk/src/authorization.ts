/** The source of the Authorization header. */
export interface Authorization {
  /** `null`: the request is anonymous. */
  header(): Promise<string | null>;
  /** Called when the header was refused (401). `true`: there is a new one, so the request is sent again. */
  renew(refused: string | null): Promise<boolean>;
}

/** A header that does not change. */
export function fixedHeader(header: string | null): Authorization {
  return { header: async () => header, renew: async () => false };
}

/** The application provides the header. After a 401 it is asked again. */
export function providedHeader(provide: () => string | Promise<string>): Authorization {
  return { header: async () => provide(), renew: async (refused) => (await provide()) !== refused };
}

export interface IssuedToken {
  readonly token: string;
  /** Lifetime in seconds. */
  readonly expires_in: number;
}

/** A token is renewed this share of its lifetime before it expires, so that it does not expire on its way. */
const reserve = 0.1;

/** Signs in when a token is needed, before it expires, and after a 401. Concurrent requests share one sign-in. */
export class KeyAuthorization implements Authorization {
  readonly #signIn: () => Promise<IssuedToken>;
  #current: Promise<{ readonly header: string; readonly until: number }> | null = null;

  constructor(signIn: () => Promise<IssuedToken>) {
    this.#signIn = signIn;
  }

  async header(): Promise<string> {
    const current = await this.#get();
    if (Date.now() < current.until) return current.header;
    await this.renew(current.header);
    return (await this.#get()).header;
  }

  async renew(refused: string | null): Promise<boolean> {
    const asked = this.#current;
    // Another request may have renewed the token meanwhile.
    if (asked !== null && (await asked).header === refused && this.#current === asked) this.#current = null;
    return (await this.#get()).header !== refused;
  }

  async #get(): Promise<{ readonly header: string; readonly until: number }> {
    if (this.#current !== null) return this.#current;
    const current = this.#issue();
    this.#current = current;
    try {
      return await current;
    } catch (error) {
      // The next request tries again.
      if (this.#current === current) this.#current = null;
      throw error;
    }
  }

  async #issue(): Promise<{ readonly header: string; readonly until: number }> {
    const { token, expires_in: lifetimeSec } = await this.#signIn();
    return { header: `Bearer ${token}`, until: Date.now() + lifetimeSec * 1000 * (1 - reserve) };
  }
}
