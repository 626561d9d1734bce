import assert from 'node:assert/strict';
import { test } from 'node:test';
import { datesOf, indexesOf, describePlan, planOf, withPlan } from './exceptions.ts';

const exceptions = [
  { date: '2027-12-24', opens_at: '09:00', closes_at: '12:00' },
  { date: '2027-12-25' },
  { date: '2027-12-24', opens_at: '13:00', closes_at: '14:00' },
];

test('a date has regular hours, is closed, or has custom hours', () => {
  assert.equal(planOf(exceptions, '2027-12-23'), 'usual');
  assert.equal(planOf(exceptions, '2027-12-25'), 'closed');
  assert.deepEqual(planOf(exceptions, '2027-12-24'), [
    { opens_at: '09:00', closes_at: '12:00' },
    { opens_at: '13:00', closes_at: '14:00' },
  ]);
  assert.equal(describePlan(planOf(exceptions, '2027-12-24')), '09:00–12:00, 13:00–14:00');
  assert.deepEqual(datesOf(exceptions), ['2027-12-24', '2027-12-25']);
  assert.deepEqual(indexesOf(exceptions, '2027-12-24'), [0, 2]);
});

test('a plan replaces the exceptions of its date, and exceptions stay sorted by date', () => {
  assert.deepEqual(withPlan(exceptions, '2027-12-24', 'closed'), [{ date: '2027-12-24' }, { date: '2027-12-25' }]);
  assert.deepEqual(withPlan(exceptions, '2027-12-24', 'usual'), [{ date: '2027-12-25' }]);
  assert.deepEqual(withPlan([], '2027-01-01', [{ opens_at: '10:00', closes_at: '11:00' }]), [
    { date: '2027-01-01', opens_at: '10:00', closes_at: '11:00' },
  ]);
  assert.deepEqual(withPlan([], '2027-01-01', []), [{ date: '2027-01-01' }]);
});
