/** The answer of a call, with what its headers say. */
export interface Answer<T> {
  readonly data: T;
  /** The version of the resource, for `ifMatch`. */
  readonly etag: string | null;
  readonly status: number;
  readonly headers: Headers;
}

/** A running call: a promise of the answer. */
export class Call<T> implements Promise<T> {
  readonly [Symbol.toStringTag] = 'Call';
  readonly #answer: Promise<Answer<T>>;

  constructor(answer: Promise<Answer<T>>) {
    this.#answer = answer;
  }

  /** The answer with its status, headers and ETag. */
  async withResponse(): Promise<Answer<T>> {
    return this.#answer;
  }

  // A call is a promise on purpose: `await` gives the data.
  // oxlint-disable-next-line unicorn/no-thenable
  async then<A = T, B = never>(
    onAnswer?: ((data: T) => A | PromiseLike<A>) | null,
    onError?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#answer.then(({ data }) => data).then(onAnswer, onError);
  }

  async catch<B = never>(onError?: ((error: unknown) => B | PromiseLike<B>) | null): Promise<T | B> {
    return this.#answer.then(({ data }) => data).catch(onError);
  }

  async finally(onEnd?: (() => void) | null): Promise<T> {
    return this.#answer.then(({ data }) => data).finally(onEnd);
  }
}

/** A call of a list: a promise of the first page, and an async iterable over the items of all pages. */
export class PagedCall<T, Item> extends Call<T> implements AsyncIterable<Item> {
  readonly #pages: (first: Promise<T>) => AsyncIterable<T>;

  constructor(answer: Promise<Answer<T>>, pages: (first: Promise<T>) => AsyncIterable<T>) {
    super(answer);
    this.#pages = pages;
  }

  /** Every page, from the first. The next page is read when it is asked for. */
  pages(): AsyncIterable<T> {
    return this.#pages(this);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.pages()) {
      // A page is an object with one list.
      const items = Object.values(page as object).find((value) => Array.isArray(value)) as readonly Item[] | undefined;
      yield* items ?? [];
    }
  }
}
