/** What a collector did with a batch of spans. */
export type ExportOutcome =
  /** `rejected`: how many of the spans it did not accept. */
  | { readonly kind: 'accepted'; readonly rejected: number; readonly why: string }
  /** The same batch would be refused again. */
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'unavailable'; readonly why: string; readonly retryAfterMs: number | null };

/** The only statuses after which the specification has a request repeated. */
const retryableStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504]);

interface CollectorAnswer {
  readonly body: string;
  readonly retryAfter: string | null;
}

export function outcomeOfAnswer(status: number, { body, retryAfter }: CollectorAnswer): ExportOutcome {
  if (status >= 200 && status < 300) return { kind: 'accepted', ...partialSuccessOf(body) };
  const why = `the collector answered with status ${status}`;
  if (!retryableStatuses.has(status)) return { kind: 'refused', why };
  const isDelay = retryAfter !== null && /^\d{1,6}$/.test(retryAfter);
  return { kind: 'unavailable', why, retryAfterMs: isDelay ? Number(retryAfter) * 1_000 : null };
}

/** The longest text of a collector that is logged. */
const maxMessageLength = 256;

/** An answer that is not JSON says nothing about single spans. */
function partialSuccessOf(body: string): { readonly rejected: number; readonly why: string } {
  let answer: unknown;
  try {
    answer = JSON.parse(body);
  } catch {
    answer = null;
  }
  const { partialSuccess } = (answer ?? {}) as { partialSuccess?: { rejectedSpans?: unknown; errorMessage?: unknown } };
  const rejected = Number(partialSuccess?.rejectedSpans ?? 0);
  const message = partialSuccess?.errorMessage;
  return {
    rejected: Number.isSafeInteger(rejected) && rejected > 0 ? rejected : 0,
    why: `the collector rejected spans: ${typeof message === 'string' ? message.slice(0, maxMessageLength) : 'no reason'}`,
  };
}
