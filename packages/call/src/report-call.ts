import { UsherError } from '@usher/sdk/errors';
import type { Call } from './call.ts';

/** What the server records of a call: that it was connected, and that it ended. */
type Action = 'connect' | 'end';

interface ReportOptions {
  /** The id of the engagement's current call; `null`: the server has none. */
  readonly callId: () => string | null;
  /** `PATCH /engagements/{engagement_id}/calls/{call_id}`. */
  readonly send: (callId: string, action: Action) => Promise<unknown>;
}

/** While the server cannot be reached, the end of a call is reported again for a minute. */
const retryMs = 2_000;
const maxTries = 30;

/**
 * Reports to the server when the call is connected, and when it has ended, so that the engagement goes back to text. Both sides
 * report, and the first report counts. A call that was only closed in this page may go on in another, so its end is not reported.
 */
export function reportCall(call: Call, { callId, send }: ReportOptions): void {
  let before = call.view.state.name;
  const stop = call.subscribe(() => {
    const { state } = call.view;
    if (state.name === before) return;
    before = state.name;
    const id = callId();
    if (state.name === 'ended') stop();
    if (id === null) return;
    if (state.name === 'connected') void send(id, 'connect').catch(() => undefined);
    if (state.name === 'ended' && state.reason !== 'closed') void sendWithRetry(async () => send(id, 'end'));
  });
}

async function sendWithRetry(send: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; tries < maxTries; tries += 1) {
    try {
      await send();
      return;
    } catch (error) {
      if (error instanceof UsherError && error.status < 500) return;
      await new Promise((resolve) => setTimeout(resolve, retryMs));
    }
  }
}
