/** The ids of the visitor's current conversation. Stored in the browser as `place`, so that a reload and other tabs can resume it. */
export interface ConversationRef {
  readonly ticketId: string;
  /** `null`: the ticket is waiting. */
  readonly engagementId: string | null;
}

export function isConversationRef(value: unknown): value is ConversationRef {
  const { ticketId, engagementId } = (value ?? {}) as Partial<Record<keyof ConversationRef, unknown>>;
  return typeof ticketId === 'string' && (engagementId === null || typeof engagementId === 'string');
}
