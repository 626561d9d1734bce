import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Operator, Site, Team } from '@usher/sdk/api-types';
import { describeAssignment, filterPeople, draftOf, newDraft, describeSignIn, type PeopleFilter } from './person.ts';

const person = (name: string, fields: Partial<Operator> = {}): Operator => ({
  id: name,
  name,
  email: `${name.toLowerCase()}@shop.example`,
  role: 'operator',
  assignments: [{ site_id: 'shop', role: 'operator', team_ids: ['sales'] }],
  max_engagement_count: 1,
  enabled: true,
  available: false,
  media: ['text'],
  presence_reason: null,
  presence_set_at: null,
  presence_expires_at: null,
  sign_in: { password: false, invited_until: null },
  display_name: name,
  picture_url: null,
  created_at: '2027-01-01T00:00:00Z',
  updated_at: '2027-01-01T00:00:00Z',
  href: `https://usher.example/operators/${name}`,
  ...fields,
});

const people = [
  person('Zoe', { available: true }),
  person('Adam', { assignments: [{ site_id: 'bank', role: 'manager', team_ids: [] }] }),
  person('Bob', { enabled: false }),
];
const all: PeopleFilter = { text: '', siteIds: ['shop', 'bank'], teamId: null, show: 'all' };
const names = (filter: Partial<PeopleFilter>): string[] =>
  filterPeople(people, { ...all, ...filter }).map(({ name }) => name);

test('people are sorted by name and found by parts of name or e-mail address', () => {
  assert.deepEqual(names({}), ['Adam', 'Bob', 'Zoe']);
  assert.deepEqual(names({ text: 'SHOP zo' }), ['Zoe']);
  assert.deepEqual(names({ text: 'zo bank' }), []);
});

test('people are filtered by site, team and state', () => {
  assert.deepEqual(names({ siteIds: ['bank'] }), ['Adam']);
  assert.deepEqual(names({ teamId: 'sales' }), ['Bob', 'Zoe']);
  assert.deepEqual(names({ show: 'enabled' }), ['Adam', 'Zoe']);
  assert.deepEqual(names({ show: 'available' }), ['Zoe']);
  assert.deepEqual(names({ show: 'disabled' }), ['Bob']);
});

test('a team of another site does not match on the chosen site', () => {
  assert.deepEqual(names({ siteIds: ['bank'], teamId: 'sales' }), []);
});

test('a display name that equals the name is empty in the form, so that it follows the name', () => {
  assert.equal(draftOf(person('Zoe')).display_name, '');
  assert.equal(draftOf(person('Zoe', { display_name: 'Zoe of Sales' })).display_name, 'Zoe of Sales');
});

test('the sign-in column shows password and invitation', () => {
  assert.equal(describeSignIn({ password: false, invited_until: null }), 'Not invited');
  assert.equal(describeSignIn({ password: false, invited_until: '2027-01-01T00:00:00Z' }), 'Invited');
  assert.equal(describeSignIn({ password: true, invited_until: null }), 'Password');
  assert.equal(
    describeSignIn({ password: true, invited_until: '2027-01-01T00:00:00Z' }),
    'Password (invitation pending)',
  );
});

test('an assignment with an unknown site or team is described without their names', () => {
  const sites = new Map([['shop', { name: 'Shop' } as Site]]);
  const teams = new Map([['sales', { name: 'Sales' } as Team]]);
  assert.equal(
    describeAssignment({ site_id: 'shop', role: 'super_manager', team_ids: ['sales', 'gone'] }, sites, teams),
    'Super manager at Shop (Sales, another team)',
  );
  assert.equal(
    describeAssignment({ site_id: 'x', role: 'manager', team_ids: [] }, sites, teams),
    'Manager at another site',
  );
  assert.deepEqual(newDraft(null).assignments, []);
});
