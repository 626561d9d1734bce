/** How a receiver knows that a request is Usher's. Shown in the catalogue; test/console/webhooks.test.ts runs it. */
export const verifySnippet = `import { createHmac, timingSafeEqual } from 'node:crypto';

// secret: whsec_…   body: the bytes as they came, not parsed and written again
export function verify(secret, headers, body) {
  const id = headers['webhook-id'];
  const sent = headers['webhook-timestamp'];
  if (Math.abs(Date.now() / 1000 - Number(sent)) > 300) return false;
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const wanted = createHmac('sha256', key).update(\`\${id}.\${sent}.\`).update(body).digest();
  // While a secret is being rotated there are two signatures: either will do.
  return (headers['webhook-signature'] ?? '').split(' ').some((one) => {
    const given = Buffer.from(one.replace(/^v1,/, ''), 'base64');
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  });
}`;
