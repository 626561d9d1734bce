const focusable = 'button:not(:disabled), a[href], input:not(:disabled), textarea, select';

/** In a window that takes the whole screen, Tab goes round and round. */
export function trapFocus(event: KeyboardEvent): void {
  if (event.key !== 'Tab' || !(event.currentTarget instanceof HTMLElement)) return;
  const root = event.currentTarget.getRootNode() as ShadowRoot;
  const all = [...event.currentTarget.querySelectorAll<HTMLElement>(focusable)].filter(
    (element) => element.offsetParent !== null && element.tabIndex >= 0,
  );
  const [first] = all;
  const last = all.at(-1);
  const leaves = event.shiftKey ? first : last;
  if (root.activeElement !== leaves && all.includes(root.activeElement as HTMLElement)) return;
  event.preventDefault();
  (event.shiftKey ? last : first)?.focus();
}
