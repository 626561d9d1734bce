import Type from 'typebox';
import { isUuid, type Id } from '../../platform/ids.ts';
import { body, name, nullable, output, timestamp, uuid } from '../../platform/schema.ts';

export type AccessTokenId = Id<'access_token'>;

/** An operator has so many at most that have not expired. */
export const mostAccessTokens = 20;

export const accessTokenInput = body({
  name: Type.String({ ...name, description: 'What the token is for' }),
  expires_at: Type.Optional(
    Type.Unsafe<string | null>({
      ...nullable(Type.String({ format: 'date-time' })),
      description: 'In the future; null, or left out: the token works until it is deleted',
    }),
  ),
});

const listed = {
  id: uuid<'access_token'>(),
  name,
  created_at: timestamp,
  expires_at: nullable(timestamp),
  last_used_at: Type.Unsafe<Date | null>({
    ...nullable(timestamp),
    description: 'Up to a minute late; null: the token was not used yet',
  }),
};

export const accessTokenOutput = output('AccessToken', listed);
export const newAccessTokenOutput = output('NewAccessToken', {
  ...listed,
  token: Type.String({ description: 'To be sent as "Authorization: Bearer <token>"; shown this once' }),
});

/** A token in the audit log. */
export const accessTokenAudit = {
  of: Type.Object({ operator_id: uuid<'operator'>(), name: listed.name, expires_at: listed.expires_at }),
};

const prefix = 'ust_';

/** Access tokens read `ust_<id>.<secret>`. The prefix lets scanners of leaked code tell what it is. */
export function composeAccessToken(id: string, secret: string): string {
  return `${prefix}${id}.${secret}`;
}

/** Whether the text means to be one: a signed token never begins like this. */
export function isAccessToken(text: string): boolean {
  return text.startsWith(prefix);
}

/** In lower case only: a row is kept in memory, and dropped, under its id as PostgreSQL writes it. */
const shape = /^ust_([\da-f-]{36})\.([\w-]{43})$/;

export function parseAccessToken(text: string): { readonly id: string; readonly secret: string } | null {
  const [, id = '', secret = ''] = shape.exec(text) ?? [];
  return isUuid(id) ? { id, secret } : null;
}
