import assert from 'node:assert/strict';
import { test } from 'node:test';
import Type, { type Static } from 'typebox';
import { createTag } from './driver/template.ts';
import { assigned, computed, defaulted, fieldsOf, fixed, internal, optional, required } from './fields.ts';
import type { RowOf, SettingsOf } from './fields.ts';
import { body } from '../schema.ts';

/** A resource with a field of every kind. */
const table = {
  id: assigned(Type.String()),
  owner: internal<number>(),
  site_id: fixed(Type.String()),
  title: required(Type.String()),
  tags: defaulted(Type.Array(Type.String()), []),
  colour: optional(Type.String(), 'white'),
  note: optional(Type.String(), null, { audit: 'hidden' }),
  limits: optional(Type.Object({ most: Type.Integer() }), null, { stored: 'json' }),
  readers: computed(Type.Integer()),
};
const fields = fieldsOf(table);

const settings: SettingsOf<typeof table> = { title: 'A', tags: [], colour: 'white', note: null, limits: { most: 3 } };
const row: RowOf<typeof table> = { ...settings, id: 'x', owner: 7, site_id: 's' };

test('schemas, columns and the audit view follow from the table, in its order', () => {
  assert.deepEqual(Object.keys(fields.create), ['site_id', 'title', 'tags', 'colour', 'note', 'limits']);
  assert.deepEqual(Object.keys(fields.update), ['title', 'tags', 'colour', 'note', 'limits', 'site_id']);
  assert.deepEqual(fields.readOnly, ['id', 'readers']);
  assert.deepEqual(Object.keys(fields.output), Object.keys(table).filter((name) => name !== 'owner')); // prettier-ignore
  assert.deepEqual(fields.columns, Object.keys(table).filter((name) => name !== 'readers')); // prettier-ignore
  assert.deepEqual(fields.audit, { hides: ['note'], omits: ['owner', 'readers'] });
  const input = body(fields.create);
  const least: Static<typeof input> = { site_id: 's', title: 'A' };
  assert.deepEqual(Object.keys(least), input.required);
});

test('a field left out keeps its value, or gets the default in a new resource; null resets it', () => {
  const defaults = { tags: [], colour: 'white', note: null, limits: null };
  assert.deepEqual(fields.complete({ title: 'B' }, null), { ...defaults, title: 'B' });
  assert.deepEqual(fields.complete({ title: 'B', limits: null }, row), { ...settings, title: 'B', limits: null });
  assert.deepEqual(fields.changes({ colour: null, note: 'n' }), { colour: 'white', note: 'n' });
  assert.deepEqual(fields.changes({}), {});
});

test('JSON columns are written as JSON, other values unchanged, and fields that requests do not set are left out', () => {
  const sql = createTag('prepared', () => assert.fail('no statement is sent'));
  assert.deepEqual(fields.values(sql, row), { ...settings, limits: sql.json({ most: 3 }) });
  assert.deepEqual(fields.values(sql, { limits: null }), { limits: null });
});

test('a response has the fields in the order of the table', () => {
  const { owner: _owner, ...shown } = row;
  const answer = { ...fields.show(row), readers: 2 };
  assert.deepEqual(answer, { ...shown, readers: 2 });
  assert.deepEqual(Object.keys(answer), Object.keys(fields.output));
});
