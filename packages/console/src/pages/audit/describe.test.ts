import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import {
  describeAction,
  cursorOf,
  instantOf,
  allActions,
  allResourceTypes,
  pageOf,
  spaced,
  formatValue,
} from './describe.ts';

test('every action of the API has a text', () => {
  const text = readFileSync(new URL('../../../../../openapi.json', import.meta.url), 'utf8');
  const actions = [...text.matchAll(/"x-audit": "([^"]+)"/g)].map(([, action]) => action ?? '');
  assert.ok(actions.length > 30);
  assert.deepEqual(
    actions.filter((action) => !allActions.includes(action)),
    [],
  );
  assert.ok(allResourceTypes.includes('application_token'));
  assert.equal(describeAction('team.update'), 'changed the team');
  assert.equal(describeAction('rocket.launch'), 'rocket.launch');
});

const id = '3f2a8a0e-1111-4222-8333-444455556666';
const names = new Map([[id, 'Shop']]);

test('values are formatted for people', () => {
  assert.equal(formatValue(null, names), 'nothing');
  assert.equal(formatValue([], names), 'nothing');
  assert.equal(formatValue(false, names), 'no');
  assert.equal(formatValue(30, names), '30');
  assert.equal(formatValue(`<img src=x onerror=alert(1)> ${id}`, names), '<img src=x onerror=alert(1)> Shop');
  assert.equal(formatValue(['text', 'audio'], names), 'text, audio');
  assert.equal(
    formatValue([{ site_id: id, role: 'manager', team_ids: [] }], names),
    '(site id: Shop, role: manager, team ids: nothing)',
  );
  assert.equal(spaced('max_engagement_count'), 'max engagement count');
});

test('an entry links to the page of its resource unless the resource was deleted', () => {
  const target = (type: string) => ({ type, id, name: null });
  assert.equal(pageOf({ action: 'operator.update', target: target('operator'), changes: [] }), `/people/${id}`);
  assert.equal(pageOf({ action: 'queue.delete', target: target('queue'), changes: [] }), null);
  const changes = [{ field: 'operator_id', before: id }];
  assert.equal(pageOf({ action: 'api_key.delete', target: target('api_key'), changes }), `/people/${id}`);
  assert.equal(pageOf({ action: 'access_token.create', target: target('access_token'), changes }), `/people/${id}`);
  assert.equal(pageOf({ action: 'visitor.update', target: target('visitor'), changes: [] }), null);
});

test('cursors and local times are parsed', () => {
  assert.equal(cursorOf('https://usher.example/audit_log?cursor=abc&per_page=30'), 'abc');
  assert.equal(cursorOf(null), null);
  assert.equal(instantOf(''), undefined);
  assert.equal(instantOf('nonsense'), undefined);
  assert.equal(instantOf('2027-01-31T09:00'), new Date('2027-01-31T09:00').toISOString());
});
