/** The frames of PostgreSQL's protocol, as far as a scheduler must know them: what belongs together, and what it does. */

/** What a client sends up to one Sync, or one simple query: the server answers it with one ReadyForQuery. */
export interface Exchange {
  readonly bytes: Buffer;
  /** `opening`: starts a session or makes its settings. `preparation`: parses a statement. Neither reads or changes a row. */
  readonly kind: 'opening' | 'preparation' | 'statement';
  /** The texts of the statements that it runs, in one line. */
  readonly text: string;
  /** It is a COMMIT, or a statement outside of a transaction that writes. */
  readonly commits: boolean;
}

/** The start-up message, which has no type, and the statement with the settings of the session. */
const openingExchanges = 2;

const writing = /\b(?:INSERT INTO|UPDATE|DELETE FROM)\b/;

/** Cuts the bytes of a client into exchanges. */
export class ClientFrames {
  readonly #names = new Map<string, string>();
  #rest: Buffer = Buffer.alloc(0);
  #current: Buffer[] = [];
  #texts: string[] = [];
  #runs = false;
  #exchanges = 0;
  #isInTransaction = false;

  push(bytes: Buffer): Exchange[] {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    const found: Exchange[] = [];
    for (let frame = this.#take(); frame !== null; frame = this.#take()) {
      this.#current.push(frame);
      const isStart = this.#exchanges === 0;
      const type = isStart ? 'Q' : String.fromCharCode(frame[0] ?? 0);
      this.#read(isStart ? 'start' : type, frame);
      if (type === 'S' || type === 'Q') found.push(this.#end());
    }
    return found;
  }

  #take(): Buffer | null {
    const start = this.#exchanges === 0 ? 0 : 1;
    if (this.#rest.length < start + 4) return null;
    const length = start + this.#rest.readUInt32BE(start);
    if (this.#rest.length < length) return null;
    const frame = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(length);
    return frame;
  }

  #read(type: string, frame: Buffer): void {
    const strings = (): string[] => frame.toString('utf8', 5).split('\0');
    if (type === 'Q') this.#texts.push(strings()[0] ?? '');
    if (type === 'P') {
      const [name = '', text = ''] = strings();
      this.#names.set(name, text);
    }
    if (type === 'B') this.#texts.push(this.#names.get(strings()[1] ?? '') ?? '');
    if (type === 'E' || type === 'Q') this.#runs = true;
  }

  #end(): Exchange {
    this.#exchanges += 1;
    const statement = this.#runs ? 'statement' : 'preparation';
    if (this.#texts.includes('begin')) this.#isInTransaction = true;
    const writes = this.#runs && this.#texts.some((text) => writing.test(text));
    const commits = this.#texts.includes('commit') || (writes && !this.#isInTransaction);
    if (this.#texts.some((text) => text === 'commit' || text === 'rollback')) this.#isInTransaction = false;
    const exchange: Exchange = {
      bytes: Buffer.concat(this.#current),
      kind: this.#exchanges <= openingExchanges ? 'opening' : statement,
      text: this.#texts.join('; ').replaceAll(/\s+/g, ' ').trim(),
      commits,
    };
    this.#current = [];
    this.#texts = [];
    this.#runs = false;
    return exchange;
  }
}

/** Cuts the bytes of a server into answers, each ended by ReadyForQuery, and finds the process id of the session. */
export class ServerFrames {
  #rest: Buffer = Buffer.alloc(0);
  #current: Buffer[] = [];
  pid: number | null = null;
  /** The codes of the errors that the server has reported. */
  readonly errors: string[] = [];

  push(bytes: Buffer): Buffer[] {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    const answers: Buffer[] = [];
    while (this.#rest.length >= 5) {
      const length = 1 + this.#rest.readUInt32BE(1);
      if (this.#rest.length < length) break;
      const frame = this.#rest.subarray(0, length);
      this.#rest = this.#rest.subarray(length);
      const type = String.fromCharCode(frame[0] ?? 0);
      if (type === 'K') this.pid = frame.readUInt32BE(5);
      if (type === 'E') this.errors.push(errorOf(frame));
      this.#current.push(frame);
      if (type !== 'Z') continue;
      answers.push(Buffer.concat(this.#current));
      this.#current = [];
    }
    return answers;
  }
}

/** The fields of an error are a letter and a text each. */
function errorOf(frame: Buffer): string {
  const fields = frame.toString('utf8', 5).split('\0');
  const field = (letter: string): string => fields.find((each) => each.startsWith(letter))?.slice(1) ?? '';
  return `${field('C')} ${field('M')}`;
}
