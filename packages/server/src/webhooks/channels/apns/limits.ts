/** Every limit of what is sent to Apple. Tests have shorter ones. */
export interface ApnsLimits {
  /** Until the connection is there, and Apple's first frame. */
  readonly connectMs: number;
  /** From the request to the whole of its answer. */
  readonly answerMs: number;
  /** Of an answer; Apple's own are about a hundred. */
  readonly answerBytes: number;
  /** Requests of ours at a time on one connection, however many Apple allows. */
  readonly streams: number;
  /** Notifications that wait for a stream, to one environment. */
  readonly waiting: number;
  readonly waitMs: number;
  /** How often a request is sent again that Apple has not looked at: after that it has failed. */
  readonly resends: number;
  /** A connection on which nothing has been heard for so long is asked whether it is still there. */
  readonly pingEveryMs: number;
  readonly pingMs: number;
  /** After a connection that came to nothing; doubled each time. Apple takes haste for an attack. */
  readonly backoffMs: number;
  readonly longestBackoffMs: number;
  /** For which a credential rests that Apple has refused. */
  readonly pauseMs: number;
}

export const defaultApnsLimits: ApnsLimits = {
  connectMs: 5_000,
  answerMs: 15_000,
  answerBytes: 4_096,
  streams: 500,
  waiting: 2_000,
  waitMs: 15_000,
  resends: 2,
  pingEveryMs: 60_000,
  pingMs: 5_000,
  backoffMs: 1_000,
  longestBackoffMs: 60_000,
  pauseMs: 5 * 60_000,
};
