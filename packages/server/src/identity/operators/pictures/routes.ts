import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { RowChanges } from '../../../platform/database/row-changes.ts';
import { inTransaction, type Sql } from '../../../platform/database/database.ts';
import { notFound } from '../../../platform/errors.ts';
import type { App } from '../../../platform/http/http.ts';
import type { OperatorId } from '../../../platform/ids.ts';
import { RowCache } from '../../../platform/database/row-cache.ts';
import { output, uuid } from '../../../platform/schema.ts';
import { accountOf } from '../../access.ts';
import { recordChange } from '../../audit/audit.ts';
import { concernsSitesOf } from '../audited.ts';
import { operatorToChange } from '../permission.ts';
import { lockOperator } from '../store.ts';
import { pathOfPicture, pictureInput, pictureUrl, readPicture, type Picture } from './picture.ts';
import { findPicture, replacePicture } from './store.ts';

const tags = ['Operators'];
const operatorParams = Type.Object({ operator_id: uuid<'operator'>() });
const pictureOutput = output('OperatorPicture', { picture_url: pictureUrl });
const pictureBytes = { content: { 'image/*': { schema: { type: 'string', format: 'binary' } } } };
const access = { operator: 'super_manager', site: 'resource', rule: 'self or every site' } as const;

/** Of at most 256 KiB each. Pictures are public, so reading them must not load the database. */
const maxCachedPictures = 100;
/** A browser may show a removed picture from its cache for this long. */
const cacheSeconds = 3_600;

export function pictureRoutes(app: App, lookups: Sql, changes: RowChanges): void {
  const pictures = new RowCache<Picture | null>({
    changes,
    tables: ['operator_pictures'],
    limit: maxCachedPictures,
    load: async (id) => findPicture(lookups, id),
  });

  app.get(
    '/operator_pictures/:picture_id',
    {
      config: { access: { public: true } },
      schema: {
        tags,
        summary: 'Get the picture of an operator; a new picture has a new URL',
        description: 'Public, because visitors see it. The same URL never shows another picture, so it may be cached.',
        params: Type.Object({ picture_id: uuid<'operator_picture'>() }),
        response: { 200: pictureBytes },
      },
    },
    async (request, reply) => {
      const { picture_id: id } = request.params;
      const picture = await pictures.get(id);
      if (picture === null) throw notFound('picture', id);
      reply.headers({
        'content-type': picture.content_type,
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
        'cross-origin-resource-policy': 'cross-origin',
        'cache-control': `public, max-age=${cacheSeconds}`,
        etag: `"${id}"`,
      });
      return picture.content;
    },
  );

  app.put(
    '/operators/:operator_id/picture',
    {
      config: { access, audit: { action: 'operator_picture.update', of: pictureOutput } },
      schema: {
        tags,
        summary: 'Set the picture that visitors see; operators may set their own',
        description: 'The answer has the URL of the new picture, which differs from the former one.',
        params: operatorParams,
        body: pictureInput,
        response: { 200: pictureOutput },
      },
    },
    async (request) => setPicture(request, request.params.operator_id, await readPicture(request.body)),
  );

  app.delete(
    '/operators/:operator_id/picture',
    {
      config: { access, audit: { action: 'operator_picture.delete', of: pictureOutput } },
      schema: {
        tags,
        summary: 'Remove the picture of an operator; visitors see initials instead',
        description: 'The former URL of the picture answers 404 from then on.',
        params: operatorParams,
        response: { 200: pictureOutput },
      },
    },
    async (request) => setPicture(request, request.params.operator_id, null),
  );
}

async function setPicture(
  request: FastifyRequest,
  operatorId: OperatorId,
  picture: Picture | null,
): Promise<Type.Static<typeof pictureOutput>> {
  const accountId = accountOf(request);
  return inTransaction(request.sql, async (sql) => {
    await lockOperator(sql, accountId, operatorId);
    const operator = await operatorToChange(request, operatorId, sql);
    const before = { picture_url: operator.picture_url };
    const hasNone = picture === null && before.picture_url === null;
    const after = hasNone
      ? before
      : { picture_url: pathOfPicture(await replacePicture(sql, { accountId, operatorId }, picture)) };
    recordChange(request, {
      ...concernsSitesOf(operator),
      before,
      after,
      target: { id: operator.id, name: operator.name },
    });
    return after;
  });
}
