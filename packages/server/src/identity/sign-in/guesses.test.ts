import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unshared } from '../../../../../test/support/unshared-uses.ts';
import { Refusal } from '../../platform/errors.ts';
import { Guesses, guessLimits } from './guesses.ts';

const email = 'ann@example.com';

function isRefused(guess: () => unknown): boolean {
  try {
    guess();
    return false;
  } catch (error) {
    assert.ok(error instanceof Refusal && error.code === 'rate_limited');
    assert.match(error.message, /[Tt]ry again in \d+ s\.$/);
    return true;
  }
}

test('one address may try ten wrong passwords a minute, all addresses together sixty', () => {
  const guesses = new Guesses(guessLimits(60), unshared);
  let taken = 0;
  for (let address = 1; address <= 10; address += 1)
    for (let time = 0; time < 12; time += 1)
      if (!isRefused(() => guesses.fromAnybody(`192.0.2.${address}`, email, 0))) taken += 1;
  assert.equal(taken, 60);
  // Six addresses have used up the total limit, so the limit of the seventh address is untouched.
  assert.ok(isRefused(() => guesses.fromAnybody('192.0.2.7', email, 59_999)));
  assert.ok(!isRefused(() => guesses.fromAnybody('192.0.2.7', email, 60_000)));
  assert.ok(!isRefused(() => guesses.fromAnybody('192.0.2.1', 'bob@example.com', 0)));
});

test('guesses from many addresses do not block a known device or a session, and each of these has its own limit', () => {
  const guesses = new Guesses(guessLimits(60), unshared);
  for (let address = 1; address <= 60; address += 1) guesses.fromAnybody(`192.0.2.${address}`, email, 0);
  assert.ok(isRefused(() => guesses.fromAnybody('192.0.2.99', email, 0)));
  for (const guess of [
    () => guesses.fromKnownDevice('a', email, 0),
    () => guesses.fromKnownDevice('b', email, 0),
    () => guesses.fromSession('operator', 0),
  ]) {
    for (let time = 0; time < 10; time += 1) assert.ok(!isRefused(guess));
    assert.ok(isRefused(guess));
  }
});

test('a correct password does not count as a guess', () => {
  const guesses = new Guesses(guessLimits(6), unshared);
  for (let time = 0; time < 100; time += 1) guesses.fromAnybody('192.0.2.1', email, 0)();
  guesses.fromAnybody('192.0.2.1', email, 0);
  assert.ok(isRefused(() => guesses.fromAnybody('192.0.2.1', email, 0)));
});

test('spellings of an e-mail address that match the same operator share one limit', () => {
  for (const spelling of ['ANN@Example.com', ' ann@example.com', 'Ann@example.com', 'ａnn@example.com']) {
    const guesses = new Guesses(guessLimits(6), unshared);
    guesses.fromAnybody('192.0.2.1', email, 0);
    assert.ok(
      isRefused(() => guesses.fromAnybody('192.0.2.1', spelling, 0)),
      spelling,
    );
  }
  const guesses = new Guesses(guessLimits(6), unshared);
  guesses.fromAnybody('192.0.2.1', 'iris@example.com', 0);
  assert.ok(isRefused(() => guesses.fromAnybody('192.0.2.1', '\u0130RIS@example.com', 0)));
});

test('IPv6 addresses of one /64 share one limit', () => {
  const guesses = new Guesses(guessLimits(6), unshared);
  guesses.fromAnybody('2001:db8::1', email, 0);
  assert.ok(isRefused(() => guesses.fromAnybody('2001:db8::2', email, 0)));
  assert.ok(!isRefused(() => guesses.fromAnybody('2001:db8:0:1::1', email, 0)));
});
