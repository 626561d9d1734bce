/** Calls `changed` when the network changes, for example from Wi-Fi to mobile. Returns the function that stops watching. */
export function watchNetwork(changed: () => void): () => void {
  // The event also fires when only the speed changes, so the type is compared. Not every browser has `connection.type`.
  const { connection } = navigator as Navigator & { readonly connection?: EventTarget & { readonly type?: string } };
  let type = connection?.type;
  const check = (): void => {
    if (connection?.type === type) return;
    type = connection?.type;
    changed();
  };
  window.addEventListener('online', changed);
  connection?.addEventListener('change', check);
  return () => {
    window.removeEventListener('online', changed);
    connection?.removeEventListener('change', check);
  };
}
