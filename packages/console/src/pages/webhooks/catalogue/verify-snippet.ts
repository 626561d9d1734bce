/** Verifies the signature of a request. Shown in the catalogue; test/console/webhooks.test.ts runs it. */
export const verifySnippet = `import { createHmac, timingSafeEqual } from 'node:crypto';

// secret: whsec_…   body: the raw bytes of the request
export function verify(secret, headers, body) {
  const id = headers['webhook-id'];
  const sent = headers['webhook-timestamp'];
  if (Math.abs(Date.now() / 1000 - Number(sent)) > 300) return false;
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const expected = createHmac('sha256', key).update(\`\${id}.\${sent}.\`).update(body).digest();
  // During a rotation there are two signatures. One of them must match.
  return (headers['webhook-signature'] ?? '').split(' ').some((signature) => {
    const actual = Buffer.from(signature.replace(/^v1,/, ''), 'base64');
    return actual.length === expected.length && timingSafeEqual(actual, expected);
  });
}`;
