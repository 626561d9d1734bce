/** All limits of the connections to Apple. Tests use shorter ones. */
export interface ApnsLimits {
  /** From connecting to Apple's first frame. */
  readonly connectMs: number;
  /** From the request to its complete answer. */
  readonly answerMs: number;
  /** Maximum size of an answer; Apple's have about a hundred bytes. */
  readonly answerBytes: number;
  /** Maximum of informational heads (1xx) before an answer; Apple sends none. */
  readonly informationalHeads: number;
  /** Maximum of concurrent requests on one connection, even if Apple allows more. */
  readonly streams: number;
  /** Maximum of notifications that wait for a stream, per environment. */
  readonly waiting: number;
  readonly waitMs: number;
  /** How often a request that Apple has not processed is sent again before it fails. */
  readonly resends: number;
  /** After this long without an answer, the connection is checked by a PING. */
  readonly pingEveryMs: number;
  readonly pingMs: number;
  /** Pause after a failed connection; doubled each time. Apple treats fast reconnects as an attack. */
  readonly backoffMs: number;
  readonly maxBackoffMs: number;
  /** Pause after Apple has refused our provider token. */
  readonly pauseMs: number;
}

export const defaultApnsLimits: ApnsLimits = {
  connectMs: 5_000,
  answerMs: 15_000,
  answerBytes: 4_096,
  informationalHeads: 16,
  streams: 500,
  waiting: 2_000,
  waitMs: 15_000,
  resends: 2,
  pingEveryMs: 60_000,
  pingMs: 5_000,
  backoffMs: 1_000,
  maxBackoffMs: 60_000,
  pauseMs: 5 * 60_000,
};
