import type { QueueTicket } from '@usher/client/api-types';
import { isStaffed, offlineInWords, positionInWords, waitInWords } from '../texts.ts';
import type { PanelProps } from './panel.tsx';
import { words } from '../words.ts';

export function Waiting({ conversation, state, ticket }: PanelProps & { readonly ticket: QueueTicket | null }) {
  const { staffed, opensAt, notice } = state;
  const isOffered = ticket?.state === 'offered';
  const isOffline = ticket !== null && staffed !== null && !isStaffed(staffed, ticket);
  const wait = isOffline ? offlineInWords(opensAt) : waitInWords(ticket?.estimated_wait_sec ?? null);
  return (
    <>
      <div class="body center middle">
        <div class="spinner" aria-hidden="true" />
        <div role="status">
          <p class="large number">{isOffered ? words.connectingYou : positionInWords({ ticket, staffed })}</p>
          {!isOffered && wait !== null && <p class="quiet number">{wait}</p>}
        </div>
        <p class="quiet">{words.keepOpen}</p>
        {notice !== null && <p class={`note ${notice.kind}`}>{notice.text}</p>}
      </div>
      <div class="foot">
        <button type="button" class="button" onClick={() => void conversation.cancel()}>
          {words.stopWaiting}
        </button>
      </div>
    </>
  );
}
