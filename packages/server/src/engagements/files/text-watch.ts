/** So much of a text is looked at to tell markup, after the space before it. */
const headCharacters = 4_096;
/** What no text has: controls but for tab, line feed, form feed and return. (Those from 80 to 9f are odd, but text.) */
const binary = /(?![\t\n\f\r\u{80}-\u{9f}])\p{Cc}/u;

/** Watches bytes go by and tells in the end whether all of them were text: UTF-8, without controls. */
export class TextWatch {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  #head: string | null = '';

  watch(chunk: Uint8Array): void {
    if (this.#head !== null) this.#read(() => this.#decoder.decode(chunk, { stream: true }));
  }

  /** The beginning of the text, without space before it; `null` if it is none. */
  end(): string | null {
    if (this.#head !== null) this.#read(() => this.#decoder.decode());
    return this.#head;
  }

  #read(decode: () => string): void {
    let text: string;
    try {
      text = decode();
    } catch {
      this.#head = null;
      return;
    }
    if (binary.test(text)) this.#head = null;
    else if (this.#head === '') this.#head = text.trimStart().slice(0, headCharacters);
    else if (this.#head !== null && this.#head.length < headCharacters)
      this.#head = (this.#head + text).slice(0, headCharacters);
  }
}
