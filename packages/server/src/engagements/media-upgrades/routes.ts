import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { appendEvent } from '../../events/append.ts';
import { accountOf } from '../../identity/access.ts';
import { inTransaction } from '../../platform/database/database.ts';
import { notFound, Refusal } from '../../platform/errors.ts';
import type { App } from '../../platform/http/http.ts';
import { newId, type EngagementId } from '../../platform/ids.ts';
import { uuid } from '../../platform/schema.ts';
import { describeUpgrade } from '../../routing/board/rules/upgrading.ts';
import type { Turns } from '../../routing/turns.ts';
import { sendSystemMessage } from '../messages/system-message.ts';
import { partyOf } from '../../identity/party.ts';
import { permitParticipant } from '../permission.ts';
import { engagementEnded, permittedEngagement } from '../permitted-engagement.ts';
import { lockEngaged } from '../taking-part.ts';
import { upgradeOutput } from '../../routing/media-upgrade.ts';
import { upgradeAnswer, upgradeInput, type UpgradeInput, type UpgradeRow } from './media-upgrade.ts';
import { closeUpgrade, findUpgrade, listUpgrades, replaceUpgrade } from './store.ts';

const tags = ['Media upgrades'];
const access = { operator: 'operator', visitor: true, site: 'resource', rule: 'takes part' } as const;
const readAccess = { ...access, rule: 'took part or manages' } as const;
const engagementParams = Type.Object({ engagement_id: uuid<'engagement'>() });
const upgradeParams = Type.Object({ engagement_id: uuid<'engagement'>(), upgrade_id: uuid<'media_upgrade_request'>() });

export function mediaUpgradeRoutes(app: App, turns: Turns): void {
  app.post(
    '/engagements/:engagement_id/media_upgrade_requests',
    {
      config: { access, audit: 'own work' },
      schema: {
        tags,
        summary: 'Request audio or video from the other side; a pending request is canceled',
        description:
          'The other side accepts or declines. After acceptance the engagement has the new medium, and a call begins. Refused with ' +
          '`operator_unavailable` while the operator is in another call. If `calls_beside_chats` of the site is off, also while the ' +
          'operator has other engagements or offers.',
        params: engagementParams,
        body: upgradeInput,
        response: { 201: upgradeOutput },
      },
    },
    async (request, reply) => {
      const { engagement_id: engagementId } = request.params;
      // The invited side could not accept a call that the operator is not free for (D4.4).
      await turns.run(accountOf(request), { name: 'checkCall', engagementId, by: partyOf(request.caller) });
      const upgrade = await requestUpgrade(request, engagementId, request.body);
      reply.code(201).header('location', `/engagements/${upgrade.engagement_id}/media_upgrade_requests/${upgrade.id}`);
      return upgrade;
    },
  );

  app.patch(
    '/engagements/:engagement_id/media_upgrade_requests/:upgrade_id',
    {
      config: { access, audit: 'own work' },
      schema: {
        tags,
        summary: 'Accept or decline, as the invited side; or cancel, as the requesting side',
        params: upgradeParams,
        body: upgradeAnswer,
        response: { 200: upgradeOutput },
      },
    },
    async (request) => {
      const { engagement_id: engagementId, upgrade_id: upgradeId } = request.params;
      const { action } = request.body;
      if (action !== 'accept') return close(request, action);
      const by = partyOf(request.caller);
      const accepted = await turns.run(accountOf(request), { name: 'acceptUpgrade', engagementId, upgradeId, by });
      if (accepted === null) return previouslyAnswered(request, 'accepted');
      permitParticipant(request);
      return foundUpgrade(request);
    },
  );

  readRoutes(app);
}

function readRoutes(app: App): void {
  app.get(
    '/engagements/:engagement_id/media_upgrade_requests',
    {
      config: { access: readAccess },
      schema: {
        tags,
        summary: 'List media upgrade requests, newest first, at most 100',
        description: 'Answered, canceled and pending ones. An engagement has at most one that is pending.',
        params: engagementParams,
        response: { 200: Type.Object({ media_upgrade_requests: Type.Array(upgradeOutput) }) },
      },
    },
    async (request) => {
      const { id, account_id } = await permittedEngagement(request, request.params.engagement_id);
      return { media_upgrade_requests: await listUpgrades(request.sql, account_id, id) };
    },
  );

  app.get(
    '/engagements/:engagement_id/media_upgrade_requests/:upgrade_id',
    {
      config: { access: readAccess },
      schema: {
        tags,
        summary: 'One media upgrade request',
        description: 'Its state, and which media it asks for in which direction.',
        params: upgradeParams,
        response: { 200: upgradeOutput },
      },
    },
    async (request) => {
      await permittedEngagement(request, request.params.engagement_id);
      return foundUpgrade(request);
    },
  );
}

async function requestUpgrade(
  request: FastifyRequest,
  engagementId: EngagementId,
  input: UpgradeInput,
): Promise<UpgradeRow> {
  const { audio, video } = input;
  const accountId = accountOf(request);
  const by = partyOf(request.caller);
  const target = by.kind === 'visitor' ? 'operator' : 'visitor';
  const made = await inTransaction(request.sql, async (sql) => {
    const engaged = await lockEngaged(sql, accountId, engagementId, by);
    if (engaged === null) return null;
    const { subEngagementId, ...about } = engaged;
    const stored = { id: newId(), accountId, engagementId, subEngagementId, ...input, target } as const;
    const upgrade = await replaceUpgrade(sql, stored);
    const ids = { engagement_id: engagementId, sub_engagement_id: subEngagementId };
    await appendEvent(sql, {
      accountId,
      type: 'engagement.media_upgrade_request',
      about: { ...about, engagementId },
      fields: { media_upgrade_request: { id: upgrade.id, audio, video, target, ...ids } },
    });
    await sendSystemMessage(sql, {
      accountId,
      engagementId,
      content: `The ${by.kind} requested ${describeUpgrade(input)}.`,
    });
    return upgrade;
  });
  permitParticipant(request);
  return made ?? refuseNonParticipant(request, engagementId);
}

async function close(request: FastifyRequest, action: 'decline' | 'cancel'): Promise<UpgradeRow> {
  const { engagement_id: engagementId, upgrade_id: id } = request.params as UpgradeParams;
  const accountId = accountOf(request);
  const by = partyOf(request.caller);
  const state = action === 'decline' ? 'declined' : 'canceled';
  const closed = await inTransaction(request.sql, async (sql) => {
    const engaged = await lockEngaged(sql, accountId, engagementId, by);
    const upgrade = engaged === null ? null : await findUpgrade(sql, accountId, engagementId, id);
    if (upgrade?.state !== 'pending') return false;
    refuseUnless((upgrade.target === by.kind) === (action === 'decline'), action);
    await closeUpgrade(sql, id, state);
    await sendSystemMessage(sql, {
      accountId,
      engagementId,
      content: `The ${by.kind} ${state} ${describeUpgrade(upgrade)}.`,
    });
    return true;
  });
  if (!closed) return previouslyAnswered(request, state);
  permitParticipant(request);
  return foundUpgrade(request);
}

function refuseUnless(may: boolean, action: 'decline' | 'cancel'): void {
  if (may) return;
  throw new Refusal(
    'forbidden',
    action === 'decline'
      ? 'Only the invited side may decline. The requesting side may cancel.'
      : 'Only the requesting side may cancel. The invited side may decline.',
  );
}

interface UpgradeParams {
  readonly engagement_id: EngagementId;
  readonly upgrade_id: string;
}

async function foundUpgrade(request: FastifyRequest): Promise<UpgradeRow> {
  const { engagement_id, upgrade_id } = request.params as UpgradeParams;
  const found = await findUpgrade(request.sql, accountOf(request), engagement_id, upgrade_id);
  if (found === null) throw notFound('media upgrade request', upgrade_id);
  return found;
}

/** For a request that is no longer pending: repeating the same answer succeeds, another answer is refused. */
async function previouslyAnswered(request: FastifyRequest, state: UpgradeRow['state']): Promise<UpgradeRow> {
  const { engagement_id } = request.params as UpgradeParams;
  const engagement = await permittedEngagement(request, engagement_id);
  const found = await foundUpgrade(request);
  if (found.state === state) return found;
  if (found.state === 'pending') throw engagementEnded(engagement);
  throw new Refusal('request_ended', `The request ${found.id} is no longer pending: it is ${found.state}.`);
}

async function refuseNonParticipant(request: FastifyRequest, id: EngagementId): Promise<never> {
  throw engagementEnded(await permittedEngagement(request, id));
}
