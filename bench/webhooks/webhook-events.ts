import type { EventPayload } from '../../packages/server/src/events/catalogue.ts';
import { makeEvent } from '../../packages/server/src/events/make-event.ts';

/** The event that every contestant sends: a chat message as integrators receive it, about 700 bytes. */
export function messageEvent(id: string): EventPayload<'engagement.chat.message'> {
  const at = new Date(Date.UTC(2026, 0, 1));
  return makeEvent(
    'engagement.chat.message',
    { id, at },
    {
      message: {
        timestamp: at.toISOString(),
        id: '7b0a6c6e-3f3d-4b52-8f5d-5a2b8f0c1d11',
        engagement_id: '0e7f3a54-52f3-4d0e-8a8f-0d7c7b8a9e22',
        sub_engagement_id: '5f1a2b3c-4d5e-4f60-8a7b-8c9d0e1f2a33',
        content:
          'Good morning, I would like to know where my order is. It was to arrive last Tuesday, and the page of the ' +
          'carrier says since Wednesday that it is out for delivery. Could you find out, or send it again, please?',
        status: 'sent',
        sender: { type: 'visitor' },
        target: 'operator',
        type: 'chat',
        attachment: null,
      },
      undelivered_messages: false,
    },
  );
}
