import assert from 'node:assert/strict';
import type { FastifyRequest } from 'fastify';
import { accountOf, operatorOf } from '../identity/access.ts';
import { recordChange } from '../identity/audit/audit.ts';
import { lockAccount } from '../identity/lock-account.ts';
import type { Sealer } from '../identity/sealer.ts';
import type { AddressGuard } from '../platform/outbound/address-guard.ts';
import { Refusal } from '../platform/errors.ts';
import type { App } from '../platform/http/http.ts';
import { serverUrl } from '../platform/server-url.ts';
import { receiverPath, receiverRoute } from './receiver.ts';
import { sampleDataChange, sampleDataOutput, showSampleData, type SampleRow } from './sample-data.ts';
import { loadScene, newSecretHash, setUp, type SampleInput } from './set-up.ts';
import type { Simulations } from './simulations.ts';
import { findSample, setState } from './store.ts';

const tags = ['Sample data'];
const access = { operator: 'super_manager', site: 'anywhere' } as const;
const changes = { ...access, wholeToken: true } as const;
const audited = { of: sampleDataOutput, omits: ['started_at'] };

interface SampleRouteDependencies {
  readonly simulations: Simulations;
  readonly sealer: Sealer;
  readonly guard: AddressGuard;
}

/** Slow preparation is done before the transaction that locks the account. */
const prepared = new WeakMap<FastifyRequest, Omit<SampleInput, 'accountId' | 'caller'>>();

export function sampleDataRoutes(app: App, { simulations, sealer, guard }: SampleRouteDependencies): void {
  app.get(
    '/sample_data',
    {
      config: { access },
      schema: {
        tags,
        summary: 'Whether the account has sample data',
        description: 'And whether its simulated visitors are active or paused.',
        response: { 200: sampleDataOutput },
      },
    },
    async (request) => showSampleData(await findSample(request.sql, accountOf(request))),
  );

  app.post(
    '/sample_data',
    {
      config: { access: changes, changesCaches: true, audit: { action: 'sample_data.create', ...audited } },
      preHandler: async (request) => {
        const [scene, seal, secretHash] = await Promise.all([loadScene(), sealer.seal(), newSecretHash()]);
        prepared.set(request, { scene, receiverUrl: receiverOf(request, guard), seal, secretHash });
      },
      onResponse: async () => simulations.wake(),
      schema: {
        tags,
        summary: 'Create a sample site with teams, queues, operators and simulated visitors; one per account',
        description:
          'The caller becomes super_manager of the site and joins its support team. Existing sample data is started again.',
        response: { 200: sampleDataOutput, 201: sampleDataOutput },
      },
    },
    async (request, reply) => {
      const caller = operatorOf(request);
      const preparation = prepared.get(request);
      assert(preparation !== undefined);
      const record = await recorder(request);
      const { accountId, operatorId } = caller;
      const { row, created } = await setUp(request.sql, { accountId, caller: operatorId, ...preparation });
      refuseRemoving(row);
      record(row);
      reply.code(created ? 201 : 200);
      return showSampleData(row);
    },
  );

  changeRoutes(app, simulations);
  receiverRoute(app);
}

function changeRoutes(app: App, simulations: Simulations): void {
  app.patch(
    '/sample_data',
    {
      config: { access: changes, audit: { action: 'sample_data.update', ...audited } },
      onResponse: async () => simulations.wake(),
      schema: {
        tags,
        summary: 'Pause or resume the sample data',
        body: sampleDataChange,
        response: { 200: sampleDataOutput },
      },
    },
    async (request) => {
      const record = await recorder(request);
      const state = request.body.action === 'stop' ? 'stopped' : 'running';
      const row = await setState(request.sql, accountOf(request), state);
      if (row === null) throw new Refusal('not_found', 'The account has no sample data.');
      refuseRemoving(row);
      record(row);
      return showSampleData(row);
    },
  );

  app.delete(
    '/sample_data',
    {
      config: { access: changes, audit: { action: 'sample_data.remove', ...audited } },
      onResponse: async () => simulations.wake(),
      schema: {
        tags,
        summary: 'Delete the sample data with its history',
        description:
          'Your own data stays: operators lose their role on the sample site, webhooks lose the site (a webhook without another ' +
          'site is disabled), and queues lose a fallback queue on the sample site.',
        response: { 200: sampleDataOutput, 202: sampleDataOutput },
      },
    },
    async (request, reply) => {
      const record = await recorder(request);
      const row = await setState(request.sql, accountOf(request), 'removing');
      record(row);
      reply.code(row === null ? 200 : 202);
      return showSampleData(row);
    },
  );
}

/** Reads the state before the change, for the audit log. The returned function records the change. */
async function recorder(request: FastifyRequest): Promise<(after: SampleRow | null) => void> {
  const accountId = accountOf(request);
  await lockAccount(request.sql, accountId);
  const before = showSampleData(await findSample(request.sql, accountId));
  return (after) =>
    recordChange(request, {
      before,
      after: showSampleData(after),
      target: { id: accountId, name: 'Sample data' },
      concerns: { any: [] },
    });
}

function refuseRemoving({ state }: SampleRow): void {
  if (state === 'removing')
    throw new Refusal(
      'sample_data_removing',
      'The sample data is being removed. Try again when the removal is complete.',
    );
}

/** The URL of this server's receiver; `null`: the settings do not allow webhooks to this address. */
function receiverOf({ server }: FastifyRequest, guard: AddressGuard): string | null {
  const bound = server.server.address();
  if (typeof bound !== 'object' || bound === null) return null;
  const url = `${serverUrl(bound.address, bound.port)}${receiverPath}`;
  return guard.complaint(new URL(url), { onlyAllowed: true }) === null ? url : null;
}
