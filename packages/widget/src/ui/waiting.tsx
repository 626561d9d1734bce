import type { QueueTicket } from '@usher/sdk/api-types';
import { isStaffed, describeOffline, describePosition, describeWait } from '../chat/descriptions.ts';
import type { PanelProps } from './props.ts';
import { texts } from '../texts.ts';

export function Waiting({ conversation, state, ticket }: PanelProps & { readonly ticket: QueueTicket | null }) {
  const { staffedMedia, opensAt, notice } = state;
  const isOffered = ticket?.state === 'offered';
  const isOffline = ticket !== null && staffedMedia !== null && !isStaffed(staffedMedia, ticket);
  const wait = isOffline ? describeOffline(opensAt) : describeWait(ticket?.estimated_wait_sec ?? null);
  return (
    <>
      <div class="body center middle">
        <div class="spinner" aria-hidden="true" />
        <div role="status">
          <p class="large number">{isOffered ? texts.connectingYou : describePosition({ ticket, staffedMedia })}</p>
          {!isOffered && wait !== null && <p class="quiet number">{wait}</p>}
        </div>
        <p class="quiet">{texts.keepSiteOpen}</p>
        {notice !== null && <p class={`note ${notice.kind}`}>{notice.text}</p>}
      </div>
      <div class="foot">
        <button type="button" class="button" onClick={() => void conversation.cancel()}>
          {texts.stopWaiting}
        </button>
      </div>
    </>
  );
}
