/** How much of a text, after leading white space, is examined to detect markup. */
const headCharacters = 4_096;
/** Control characters that no text contains. Tab, line feed, form feed, return, and 80 to 9f are allowed. */
const binary = /(?![\t\n\f\r\u{80}-\u{9f}])\p{Cc}/u;

/** Examines a stream of bytes and says at the end whether all of it was text: UTF-8 without control characters. */
export class TextDetector {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  #head: string | null = '';

  write(chunk: Uint8Array): void {
    if (this.#head !== null) this.#read(() => this.#decoder.decode(chunk, { stream: true }));
  }

  /** The beginning of the text without leading white space; `null` if the bytes are not text. */
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
