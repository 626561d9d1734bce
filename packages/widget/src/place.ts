/** Where the visitor has got to: kept in the browser, so that a reload and other tabs find the way back. */
export interface Place {
  readonly ticketId: string | null;
  readonly engagementId: string | null;
}

export function isPlace(value: unknown): value is Place {
  const { ticketId, engagementId } = (value ?? {}) as Partial<Record<keyof Place, unknown>>;
  return isIdOrNull(ticketId) && isIdOrNull(engagementId);
}

function isIdOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}
