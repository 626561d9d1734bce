/** Where the visitor has got to: kept in the browser, so that a reload and other tabs find the way back. */
export interface Place {
  readonly ticketId: string;
  /** `null`: the ticket waits. */
  readonly engagementId: string | null;
}

export function isPlace(value: unknown): value is Place {
  const { ticketId, engagementId } = (value ?? {}) as Partial<Record<keyof Place, unknown>>;
  return typeof ticketId === 'string' && (engagementId === null || typeof engagementId === 'string');
}
