import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { actionWords, cursorOf, instantOf, knownActions, knownTypes, placeOf, plainName, valueWords } from './words.ts';

test('every action of the API has words', () => {
  const text = readFileSync(new URL('../../../../../openapi.json', import.meta.url), 'utf8');
  const said = [...text.matchAll(/"x-audit": "([^"]+)"/g)].map(([, action]) => action ?? '');
  assert.ok(said.length > 30);
  assert.deepEqual(
    said.filter((action) => !knownActions.includes(action)),
    [],
  );
  assert.ok(knownTypes.includes('application_token'));
  assert.equal(actionWords('team.update'), 'changed the team');
  assert.equal(actionWords('rocket.launch'), 'rocket.launch');
});

const id = '3f2a8a0e-1111-4222-8333-444455556666';
const names = new Map([[id, 'Shop']]);

test('values are read by people', () => {
  assert.equal(valueWords(null, names), 'nothing');
  assert.equal(valueWords([], names), 'nothing');
  assert.equal(valueWords(false, names), 'no');
  assert.equal(valueWords(30, names), '30');
  assert.equal(valueWords(`<img src=x onerror=alert(1)> ${id}`, names), '<img src=x onerror=alert(1)> Shop');
  assert.equal(valueWords(['text', 'audio'], names), 'text, audio');
  assert.equal(
    valueWords([{ site_id: id, role: 'manager', team_ids: [] }], names),
    '(site id: Shop, role: manager, team ids: nothing)',
  );
  assert.equal(plainName('max_engagement_count'), 'max engagement count');
});

test('a thing is led to where it is, and one that is gone is not', () => {
  const target = (type: string) => ({ type, id, name: null });
  assert.equal(placeOf({ action: 'operator.update', target: target('operator'), changes: [] }), `/people/${id}`);
  assert.equal(placeOf({ action: 'queue.delete', target: target('queue'), changes: [] }), null);
  const changes = [{ field: 'operator_id', before: id }];
  assert.equal(placeOf({ action: 'api_key.delete', target: target('api_key'), changes }), `/people/${id}`);
  assert.equal(placeOf({ action: 'access_token.create', target: target('access_token'), changes }), `/people/${id}`);
  assert.equal(placeOf({ action: 'visitor.update', target: target('visitor'), changes: [] }), null);
});

test('where the next page begins, and from when', () => {
  assert.equal(cursorOf('https://usher.example/audit_log?cursor=abc&per_page=30'), 'abc');
  assert.equal(cursorOf(null), null);
  assert.equal(instantOf(''), undefined);
  assert.equal(instantOf('nonsense'), undefined);
  assert.equal(instantOf('2027-01-31T09:00'), new Date('2027-01-31T09:00').toISOString());
});
