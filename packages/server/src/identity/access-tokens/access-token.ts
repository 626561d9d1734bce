import Type from 'typebox';
import { isUuid, type Id } from '../../platform/ids.ts';
import { body, name, nullable, output, timestamp, uuid } from '../../platform/schema.ts';

export type AccessTokenId = Id<'access_token'>;

/** Unexpired tokens per operator. */
export const maxAccessTokens = 20;

export const accessTokenInput = body({
  name: Type.String({ ...name, description: 'What the token is for' }),
  expires_at: Type.Optional(
    Type.Unsafe<string | null>({
      ...nullable(Type.String({ format: 'date-time' })),
      description: 'Must be in the future. null or absent: the token works until it is deleted',
    }),
  ),
});

const fields = {
  id: uuid<'access_token'>(),
  name,
  created_at: timestamp,
  expires_at: nullable(timestamp),
  last_used_at: Type.Unsafe<Date | null>({
    ...nullable(timestamp),
    description: 'Updated once a minute; null: never used',
  }),
};

export const accessTokenOutput = output('AccessToken', fields);
export const newAccessTokenOutput = output('NewAccessToken', {
  ...fields,
  token: Type.String({ description: 'Send it as "Authorization: Bearer <token>". Shown only once' }),
});

/** The fields of an access token in the audit log. */
export const accessTokenAudit = {
  of: Type.Object({ operator_id: uuid<'operator'>(), name: fields.name, expires_at: fields.expires_at }),
};

const prefix = 'ust_';

/** An access token has the form `ust_<id>.<secret>`. The prefix lets secret scanners recognise it in leaked code. */
export function composeAccessToken(id: string, secret: string): string {
  return `${prefix}${id}.${secret}`;
}

/** Whether the text is an access token and not a signed token, which never begins with the prefix. */
export function isAccessToken(text: string): boolean {
  return text.startsWith(prefix);
}

/** The id must be in lower case: the cache is keyed by ids as PostgreSQL writes them. */
const format = /^ust_([\da-f-]{36})\.([\w-]{43})$/;

export function parseAccessToken(text: string): { readonly id: string; readonly secret: string } | null {
  const [, id = '', secret = ''] = format.exec(text) ?? [];
  return isUuid(id) ? { id, secret } : null;
}
