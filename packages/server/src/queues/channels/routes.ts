import { lockAccount } from '../../identity/lock-account.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { accountOf, operatorOf, permit } from '../../identity/access.ts';
import { recordChange } from '../../identity/audit/audit.ts';
import { requestedSites } from '../../identity/requested-sites.ts';
import { inTransaction, violatedConstraint, type Sql } from '../../platform/database/database.ts';
import { invalid, notFound, Refusal } from '../../platform/errors.ts';
import { etag, ifMatch, preconditionFailed } from '../../platform/http/etag.ts';
import type { App } from '../../platform/http/http.ts';
import { newId, type QueueId, type SiteId } from '../../platform/ids.ts';
import { cutPage, nextPage, pageQuery, pageWindow } from '../../platform/http/paging.ts';
import { list, uuid } from '../../platform/schema.ts';
import { findQueue } from '../store.ts';
import {
  addressColumns,
  channelInput,
  channelOutput,
  channelUpdate,
  type ChannelFields,
  type ChannelId,
  type ChannelKind,
  type ChannelRow,
} from './channel.ts';
import { deleteChannel, findChannel, insertChannel, listChannels, updateChannel } from './store.ts';

const tags = ['Channels'];
const channelParams = Type.Object({ channel_id: uuid<'channel'>() });

/** Phone and digital channels connect a number, or a kind and an address, to a queue. */
export function channelRoutes(app: App): void {
  for (const kind of ['phone', 'digital'] as const) routesOfKind(app, kind);
}

function routesOfKind(app: App, kind: ChannelKind): void {
  const path = `/${kind}_channels`;
  const collection = `${kind}_channels`;
  const output = channelOutput[kind];

  app.get(
    path,
    {
      config: { access: { operator: 'super_manager', site: 'anywhere' } },
      schema: {
        tags,
        summary: `${title(kind)} channels of the sites`,
        description: 'The numbers or addresses by which visitors of these sites arrive, each with its queue.',
        querystring: Type.Object({ site_ids: Type.Optional(list(uuid<'site'>())), ...pageQuery }),
        response: { 200: Type.Object({ [collection]: Type.Array(output), next_page: nextPage }) },
      },
    },
    async (request) => {
      const siteIds = requestedSites(operatorOf(request), request.query.site_ids, 'super_manager');
      const found = await listChannels(request.sql, kind, siteIds, pageWindow(request.query));
      const { rows, next_page } = cutPage(request, request.query, found);
      return { [collection]: rows, next_page };
    },
  );

  app.post(
    path,
    {
      config: {
        access: { operator: 'super_manager', site: 'body.site_id' },
        audit: { action: `${kind}_channel.create`, of: output },
      },
      schema: {
        tags,
        summary: `Connect a ${kind} channel to a queue`,
        description: 'The queue must belong to the site. It cannot be deleted while a channel is connected to it.',
        body: channelInput[kind],
        response: { 201: output },
      },
    },
    async (request, reply) => {
      const { site_id: siteId } = request.body;
      const fields = channelFields(kind, request.body);
      const row = await writeChannel(request, siteId, fields.queue_id, async (sql) =>
        insertChannel(sql, kind, { id: newId(), account_id: accountOf(request), site_id: siteId, ...fields }),
      );
      recordChange(request, { target: auditTarget(kind, row) });
      reply.code(201).header('location', `${path}/${row.id}`);
      return tagged(reply, row);
    },
  );

  routesById(app, kind, path);
}

function routesById(app: App, kind: ChannelKind, path: string): void {
  const output = channelOutput[kind];

  app.get(
    `${path}/:channel_id`,
    {
      config: { access: { operator: 'super_manager', site: 'resource' } },
      schema: {
        tags,
        summary: `One ${kind} channel`,
        description: 'Where visitors arrive, and in which queue.',
        params: channelParams,
        response: { 200: output },
      },
    },
    async (request, reply) => tagged(reply, await permittedChannel(request, kind, request.params.channel_id)),
  );

  app.patch(
    `${path}/:channel_id`,
    {
      config: {
        access: { operator: 'super_manager', site: 'resource' },
        audit: { action: `${kind}_channel.update`, of: output },
      },
      schema: {
        tags,
        summary: `Change a ${kind} channel`,
        description: 'Fields that are left out keep their value.',
        params: channelParams,
        body: channelUpdate[kind],
        response: { 200: output },
      },
    },
    async (request, reply) => tagged(reply, await changeChannel(request, kind, request.params.channel_id)),
  );

  app.delete(
    `${path}/:channel_id`,
    {
      config: {
        access: { operator: 'super_manager', site: 'resource' },
        audit: { action: `${kind}_channel.delete`, of: output },
      },
      schema: {
        tags,
        summary: `Delete a ${kind} channel`,
        description: 'Its queue stays, and can be deleted if nothing else uses it.',
        params: channelParams,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await inTransaction(request.sql, async (sql) => {
        await lockAccount(sql, accountOf(request));
        const channel = await permittedChannel(request, kind, request.params.channel_id, sql);
        refuseOtherVersion(request, channel);
        recordChange(request, { before: channel, target: auditTarget(kind, channel) });
        await deleteChannel(sql, kind, channel.id);
      });
      reply.code(204);
    },
  );
}

function title(kind: ChannelKind): string {
  return kind === 'phone' ? 'Phone' : 'Digital';
}

/** The fields of the body that a channel of the kind has. */
function channelFields(kind: ChannelKind, given: ChannelFields): ChannelFields {
  const fields = ['queue_id', ...addressColumns[kind]] as const;
  return Object.fromEntries(fields.flatMap((field) => (given[field] === undefined ? [] : [[field, given[field]]])));
}

async function permittedChannel(
  request: FastifyRequest,
  kind: ChannelKind,
  id: ChannelId,
  sql: Sql = request.sql,
): Promise<ChannelRow> {
  const channel = await findChannel(sql, kind, accountOf(request), id);
  if (channel === null) throw notFound(`${kind} channel`, id);
  permit(request, channel, `${kind} channel`);
  return channel;
}

async function changeChannel(request: FastifyRequest, kind: ChannelKind, id: ChannelId): Promise<ChannelRow> {
  const channel = await permittedChannel(request, kind, id);
  const given = request.body as ChannelFields & { site_id?: SiteId };
  if (given.site_id !== undefined && given.site_id !== channel.site_id) {
    throw invalid([{ attribute: '/site_id', detail: 'cannot be changed' }]);
  }
  const changes = channelFields(kind, given);
  return writeChannel(request, channel.site_id, changes.queue_id, async (sql) => {
    const current = await findChannel(sql, kind, channel.account_id, id);
    if (current === null) throw notFound(`${kind} channel`, id);
    refuseOtherVersion(request, current);
    recordChange(request, { before: current, target: auditTarget(kind, current) });
    if (Object.keys(changes).length === 0) return current;
    return (await updateChannel(sql, kind, id, changes)) ?? current;
  });
}

/** The name of the channel in the audit log. */
function auditTarget(kind: ChannelKind, { id, number, address }: ChannelRow): { id: string; name: string } {
  return { id, name: kind === 'phone' ? number : address };
}

function refuseOtherVersion(request: FastifyRequest, { version }: ChannelRow): void {
  const versions = ifMatch(request);
  if (versions !== null && !versions.includes(version)) throw preconditionFailed(version);
}

/** Writes under the account's lock, so that the queue is not deleted meanwhile. The queue must be on the site. */
async function writeChannel(
  request: FastifyRequest,
  siteId: SiteId,
  queueId: QueueId | undefined,
  write: (sql: Sql) => Promise<ChannelRow>,
): Promise<ChannelRow> {
  const accountId = accountOf(request);
  try {
    return await inTransaction(request.sql, async (sql) => {
      await lockAccount(sql, accountId);
      const queue = queueId === undefined ? undefined : await findQueue(sql, accountId, queueId);
      if (queue !== undefined && queue?.site_id !== siteId) {
        throw invalid([{ attribute: '/queue_id', detail: 'is not a queue of the site' }]);
      }
      return write(sql);
    });
  } catch (error) {
    if (['phone_channels_number', 'digital_channels_address'].includes(violatedConstraint(error) ?? '')) {
      throw new Refusal('channel_taken', 'Another channel of the account has this number or address.');
    }
    throw error;
  }
}

function tagged(reply: FastifyReply, channel: ChannelRow): ChannelRow {
  reply.header('etag', etag(channel.version));
  return channel;
}
