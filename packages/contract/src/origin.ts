/** Whether a text is an origin as browsers send it: protocol, host and port, and nothing else. */
export function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, origin } = new URL(text);
  return (protocol === 'http:' || protocol === 'https:') && origin === text;
}
