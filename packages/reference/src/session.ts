/** Nobody is signed in to the console in this browser. */
export class SignedOut extends Error {
  override readonly name = 'SignedOut';
}

/** The token is kept in memory only; the console's session cookie, which scripts cannot read, gives another one. */
let token: string | null = null;

export async function readToken(prefix: string): Promise<string> {
  if (token !== null) return token;
  const response = await fetch(`${prefix}/operator_authentication/sessions/current/token`, { method: 'POST' });
  if (response.status === 401) throw new SignedOut('You are not signed in to the console.');
  if (!response.ok) throw new Error(`Usher answered ${response.status} when it was asked for a token.`);
  const answer = (await response.json()) as { readonly token: string };
  token = answer.token;
  return token;
}

export function forgetToken(): void {
  token = null;
}
