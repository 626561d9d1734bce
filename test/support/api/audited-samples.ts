import type { Case, World } from './audited.ts';
import { call } from '../server.ts';
import { expectStatus } from '../world.ts';

async function accountOf({ database: { sql }, account }: World): Promise<string> {
  const [site] = await sql<{ account_id: string }[]>`SELECT account_id FROM sites WHERE id = ${account.siteId}`;
  return site?.account_id ?? '';
}

async function setSample(world: World, action: 'start' | 'stop'): Promise<void> {
  const { admin: token } = world.account;
  expectStatus(await call(world, 'PATCH /sample_data', { token, body: { action } }), 200);
}

/** These run in order: the first creates the sample data, the second stops it and the last removes it. */
export const sampleCases: Readonly<Record<string, (world: World) => Promise<Case>>> = {
  'POST /sample_data': async (world) => ({
    action: 'sample_data.create',
    path: '/sample_data',
    target: await accountOf(world),
    name: 'Sample data',
  }),
  'PATCH /sample_data': async (world) => {
    await setSample(world, 'start');
    const changes = [{ field: 'state', before: 'running', after: 'stopped' }];
    const target = await accountOf(world);
    const body = { action: 'stop' };
    return { action: 'sample_data.update', path: '/sample_data', body, target, name: 'Sample data', changes };
  },
  'DELETE /sample_data': async (world) => {
    await setSample(world, 'stop');
    const changes = [{ field: 'state', before: 'stopped', after: 'removing' }];
    const target = await accountOf(world);
    return { action: 'sample_data.remove', path: '/sample_data', target, name: 'Sample data', changes };
  },
};
