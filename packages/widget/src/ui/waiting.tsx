import { positionInWords, waitInWords } from '../texts.ts';
import type { PanelProps } from './panel.tsx';

export function Waiting({ conversation, state: { ticket, notice } }: PanelProps) {
  const isOffered = ticket?.state === 'offered';
  const wait = waitInWords(ticket?.estimated_wait_sec ?? null);
  return (
    <>
      <div class="body center middle">
        <div class="spinner" aria-hidden="true" />
        <div role="status">
          <p class="large number">{isOffered ? 'Connecting you now…' : positionInWords(ticket?.position ?? null)}</p>
          {!isOffered && wait !== null && <p class="quiet number">{wait}</p>}
        </div>
        <p class="quiet">
          You can keep looking around on this site: your place is kept as long as a page of it is open.
        </p>
        {notice !== null && <p class={`note ${notice.kind}`}>{notice.text}</p>}
      </div>
      <div class="foot">
        <button type="button" class="button" onClick={() => void conversation.cancel()}>
          Stop waiting
        </button>
      </div>
    </>
  );
}
