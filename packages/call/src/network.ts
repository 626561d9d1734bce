/** Calls `changed` when the network is another, from Wi-Fi to mobile, say, or back; answers how to stop that. */
export function watchNetwork(changed: () => void): () => void {
  // Browsers that cannot tell have no `type`; the event also comes when only the speed changes.
  const { connection } = navigator as Navigator & { readonly connection?: EventTarget & { readonly type?: string } };
  let type = connection?.type;
  const look = (): void => {
    if (connection?.type === type) return;
    type = connection?.type;
    changed();
  };
  window.addEventListener('online', changed);
  connection?.addEventListener('change', look);
  return () => {
    window.removeEventListener('online', changed);
    connection?.removeEventListener('change', look);
  };
}
