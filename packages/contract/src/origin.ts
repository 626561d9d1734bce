/** Whether a text is an origin in the form that browsers send: scheme, host and port only. */
export function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, origin } = new URL(text);
  return (protocol === 'http:' || protocol === 'https:') && origin === text;
}
