const focusable = 'button:not(:disabled), a[href], input:not(:disabled), textarea, select, [tabindex]';

/**
 * Keeps Tab inside a full-screen panel: after the last element comes the first. Between them the browser moves the focus, because it
 * also stops at regions that scroll, which no selector finds.
 */
export function trapFocus(event: KeyboardEvent): void {
  if (event.key !== 'Tab' || !(event.currentTarget instanceof HTMLElement)) return;
  const { activeElement } = event.currentTarget.getRootNode() as ShadowRoot;
  const all = [...event.currentTarget.querySelectorAll<HTMLElement>(focusable)].filter(
    (element) => element.offsetParent !== null && element.tabIndex >= 0,
  );
  const ahead = event.shiftKey ? Node.DOCUMENT_POSITION_PRECEDING : Node.DOCUMENT_POSITION_FOLLOWING;
  const isAhead = (element: HTMLElement): boolean =>
    activeElement !== null && (activeElement.compareDocumentPosition(element) & ahead) !== 0;
  if (all.some(isAhead)) return;
  event.preventDefault();
  (event.shiftKey ? all.at(-1) : all[0])?.focus();
}
