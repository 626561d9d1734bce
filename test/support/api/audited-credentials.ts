import type { Case, World } from './audited.ts';
import { onePixel, setPicture } from '../people/pictures.ts';
import { call } from '../server.ts';
import { expectStatus, makeAccessToken, makeOperator, type TestOperator } from '../world.ts';

/** Makes an operator whose credentials a request changes. */
export async function makeTargetOperator(world: World): Promise<TestOperator> {
  return makeOperator(world, world.account, [{ site_id: world.account.siteId, role: 'operator' }]);
}

/** For each audited route about an operator's picture or credentials, a request that changes something. */
export const credentialCases: Readonly<Record<string, (world: World) => Promise<Case>>> = {
  'PUT /operators/:operator_id/picture': async (world) => {
    const { id } = await makeTargetOperator(world);
    const body = { content: onePixel };
    return { action: 'operator_picture.update', path: `/operators/${id}/picture`, body, target: id, name: 'Somebody' };
  },
  'DELETE /operators/:operator_id/picture': async (world) => {
    const { id } = await makeTargetOperator(world);
    const before = await setPicture(world, { token: world.account.admin }, id);
    const changes = [{ field: 'picture_url', before, after: null }];
    const path = `/operators/${id}/picture`;
    return { action: 'operator_picture.delete', path, target: id, name: 'Somebody', changes };
  },
  'POST /operators/:operator_id/api_keys': async (world) => {
    const { id } = await makeTargetOperator(world);
    const changes = [{ field: 'operator_id', after: id }];
    return { action: 'api_key.create', path: `/operators/${id}/api_keys`, body: {}, name: null, changes };
  },
  'DELETE /operators/:operator_id/api_keys/:key_id': async (world) => {
    const { id, keyId } = await makeTargetOperator(world);
    const changes = [{ field: 'operator_id', before: id }];
    return { action: 'api_key.delete', path: `/operators/${id}/api_keys/${keyId}`, target: keyId, name: null, changes };
  },
  'POST /operators/:operator_id/access_tokens': async (world) => {
    const { id } = await makeTargetOperator(world);
    const expires_at = '2099-01-01T00:00:00.000Z';
    const changes = [
      { field: 'operator_id', after: id },
      { field: 'name', after: 'Bridge' },
      { field: 'expires_at', after: expires_at },
    ];
    const body = { name: 'Bridge', expires_at };
    return { action: 'access_token.create', path: `/operators/${id}/access_tokens`, body, name: 'Bridge', changes };
  },
  'DELETE /operators/:operator_id/access_tokens/:access_token_id': async (world) => {
    const { id } = await makeTargetOperator(world);
    const { id: target } = await makeAccessToken(world, world.account, id);
    const changes = [
      { field: 'operator_id', before: id },
      { field: 'name', before: 'Bridge' },
      { field: 'expires_at', before: null },
    ];
    const path = `/operators/${id}/access_tokens/${target}`;
    return { action: 'access_token.delete', path, target, name: 'Bridge', changes };
  },
  'DELETE /operator_authentication/sessions/current': async (world) => {
    const { id: target, token } = await makeAccessToken(world, world.account, world.account.adminId);
    const changes = [
      { field: 'operator_id', before: world.account.adminId },
      { field: 'name', before: 'Bridge' },
      { field: 'expires_at', before: null },
    ];
    const path = '/operator_authentication/sessions/current';
    return { action: 'access_token.delete', path, target, name: 'Bridge', changes, as: { token, via: target } };
  },
  'POST /operators/:operator_id/invitations': async (world) => {
    const { id } = await makeTargetOperator(world);
    const changes = [{ field: 'operator_id', after: id }];
    return { action: 'invitation.create', path: `/operators/${id}/invitations`, body: {}, name: null, changes };
  },
  'DELETE /operators/:operator_id/invitations/:invitation_id': async (world) => {
    const { id } = await makeTargetOperator(world);
    const made = await call(world, `POST /operators/${id}/invitations`, { token: world.account.admin, body: {} });
    const target = expectStatus(made, 201).body.id;
    const changes = [{ field: 'operator_id', before: id }];
    const path = `/operators/${id}/invitations/${target}`;
    return { action: 'invitation.withdraw', path, target, name: null, changes };
  },
};
