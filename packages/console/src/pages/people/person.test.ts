import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Operator, Site, Team } from '@usher/client/api-types';
import { assignmentWords, choosePeople, draftOf, newDraft, signInWords, type PeopleFilter } from './person.ts';

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
  choosePeople(people, { ...all, ...filter }).map(({ name }) => name);

test('people are listed by name, and found by parts of name and address', () => {
  assert.deepEqual(names({}), ['Adam', 'Bob', 'Zoe']);
  assert.deepEqual(names({ text: 'SHOP zo' }), ['Zoe']);
  assert.deepEqual(names({ text: 'zo bank' }), []);
});

test('by site, team and state', () => {
  assert.deepEqual(names({ siteIds: ['bank'] }), ['Adam']);
  assert.deepEqual(names({ teamId: 'sales' }), ['Bob', 'Zoe']);
  assert.deepEqual(names({ show: 'enabled' }), ['Adam', 'Zoe']);
  assert.deepEqual(names({ show: 'available' }), ['Zoe']);
  assert.deepEqual(names({ show: 'disabled' }), ['Bob']);
});

test('a team of another site does not count on the one that is looked at', () => {
  assert.deepEqual(names({ siteIds: ['bank'], teamId: 'sales' }), []);
});

test('a display name that is the name is left empty in the form, so that it follows the name', () => {
  assert.equal(draftOf(person('Zoe')).display_name, '');
  assert.equal(draftOf(person('Zoe', { display_name: 'Zoe of Sales' })).display_name, 'Zoe of Sales');
});

test('how somebody signs in', () => {
  assert.equal(signInWords({ password: false, invited_until: null }), 'Not invited');
  assert.equal(signInWords({ password: false, invited_until: '2027-01-01T00:00:00Z' }), 'Invited');
  assert.equal(signInWords({ password: true, invited_until: null }), 'Password');
  assert.equal(signInWords({ password: true, invited_until: '2027-01-01T00:00:00Z' }), 'Password (invitation pending)');
});

test('what is not known of an assignment is not made up', () => {
  const sites = new Map([['shop', { name: 'Shop' } as Site]]);
  const teams = new Map([['sales', { name: 'Sales' } as Team]]);
  assert.equal(
    assignmentWords({ site_id: 'shop', role: 'super_manager', team_ids: ['sales', 'gone'] }, sites, teams),
    'Super manager at Shop (Sales, another team)',
  );
  assert.equal(
    assignmentWords({ site_id: 'x', role: 'manager', team_ids: [] }, sites, teams),
    'Manager at another site',
  );
  assert.deepEqual(newDraft(null).assignments, []);
});
