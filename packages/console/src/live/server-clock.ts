import type { Api } from '@usher/client/api';

/** The Date header has whole seconds: on average it is half a second late. */
const halfOfHeaderMs = 500;

/** How far the server's clock is ahead of ours, measured with one request. */
export async function measureClockSkew(api: Api): Promise<number> {
  const sent = Date.now();
  const response = await api.send({ method: 'GET', path: '/operator_authentication/sessions/current' });
  const serverMs = Date.parse(response.headers.get('date') ?? '');
  await response.body?.cancel();
  const localMs = (sent + Date.now()) / 2;
  const skew = serverMs + halfOfHeaderMs - localMs;
  // An offset smaller than the resolution of the header counts as zero.
  return Number.isNaN(skew) || Math.abs(skew) < 2 * halfOfHeaderMs ? 0 : skew;
}
