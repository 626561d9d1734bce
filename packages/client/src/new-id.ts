/**
 * A UUID of version 4. Pages that did not come over HTTPS have no `randomUUID`, and some replace `Array.from`: this needs
 * neither.
 */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  let hex = '';
  for (const byte of bytes) hex += (byte + 256).toString(16).slice(1);
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-8$4-$5');
}
