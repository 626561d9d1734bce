import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OperatorId, SiteId, TeamId } from '../platform/ids.ts';
import { Memberships } from './memberships.ts';

const [here, there] = ['here', 'there'] as unknown as [SiteId, SiteId];
const operators = (...ids: string[]): OperatorId[] => ids as OperatorId[];
const teams = (...ids: string[]): TeamId[] => ids as TeamId[];

test('available operators are counted by site, media and teams', () => {
  const memberships = new Memberships([
    { site_id: here, team_ids: teams('red'), operator_ids: operators('a', 'b', 'away') },
    { site_id: here, team_ids: teams('blue', 'red'), operator_ids: operators('c') },
    { site_id: there, team_ids: teams('green'), operator_ids: operators('a') },
  ]);
  const expires_at = new Date(0);
  const groups = memberships.groupsOf([
    { site_id: here, media: ['text'], operator_ids: operators('a', 'b', 'c', 'd'), expires_at },
    { site_id: here, media: ['audio'], operator_ids: operators('e'), expires_at: null },
    { site_id: there, media: ['text'], operator_ids: operators('a', 'c'), expires_at: null },
  ]);
  const counted = groups.map(({ site_id, media, team_ids, operators: count }) =>
    [site_id, ...media, ...team_ids, count].join(' '),
  );
  const expected = ['here text red 2', 'here text blue red 1', 'here text 1', 'here audio 1', 'there text green 1', 'there text 1']; // prettier-ignore
  assert.deepEqual(counted, expected);
  assert.deepEqual(groups.map((group) => group.expires_at), [expires_at, expires_at, expires_at, null, null, null]); // prettier-ignore
});
