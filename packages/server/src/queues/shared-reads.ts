interface ReadRequest<State, Value> {
  /** Whether a read that began in this state has seen everything that this call must see. */
  readonly isFresh: (begun: State) => boolean;
  /** The state in which a read begins. */
  readonly begin: () => State;
  readonly run: (begun: State) => Promise<Value>;
}

interface Reading<State, Value> {
  /** `null`: it has not begun, because the one before it has not ended. */
  begun: State | null;
  readonly result: Promise<Value>;
}

/**
 * Runs one read per key at a time. A call joins the read under way if that one is fresh enough. Otherwise it joins the next one,
 * which begins when the read under way has ended, and is shared by all calls that arrive before it begins.
 */
export class SharedReads<Key, State, Value> {
  /** The last read of each key that has not ended. */
  readonly #readings = new Map<Key, Reading<State, Value>>();

  async read(key: Key, request: ReadRequest<State, Value>): Promise<Value> {
    const last = this.#readings.get(key);
    if (last !== undefined && (last.begun === null || request.isFresh(last.begun))) return last.result;
    const { promise: result, resolve, reject } = Promise.withResolvers<Value>();
    const reading: Reading<State, Value> = { begun: null, result };
    this.#readings.set(key, reading);
    const run = async (): Promise<void> => {
      try {
        // In the same step, so that no call joins between the state and the read.
        reading.begun = request.begin();
        resolve(await request.run(reading.begun));
      } catch (error) {
        reject(error);
      } finally {
        if (this.#readings.get(key) === reading) this.#readings.delete(key);
      }
    };
    // The callers of the read before handle its failure.
    void (last === undefined ? run() : last.result.then(run, run));
    return result;
  }
}
