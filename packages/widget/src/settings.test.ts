import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings } from './settings.ts';

const source = 'https://usher.example.com/widget.js?v=1';

test('a site and a token are enough, and Usher is where the script came from', () => {
  const settings = readSettings({ site: ' s ', token: 'pub_t' }, source);
  assert.deepEqual(settings, {
    site: 's',
    token: 'pub_t',
    origin: 'https://usher.example.com',
    queues: [],
    title: 'Chat with us',
    greeting: 'How would you like to talk to us?',
    colour: '#1f5fbf',
    side: 'right',
    theme: 'auto',
    asksName: true,
  });
});

test('without one of them there is no widget', () => {
  assert.equal(readSettings({ site: 's' }, source), null);
  assert.equal(readSettings({ token: 't', site: ' ' }, source), null);
});

test('what the tag says is taken where it makes sense, and else left', () => {
  const given = {
    site: 's',
    token: 't',
    queues: 'a, b  c',
    color: '#0F0',
    position: 'left',
    theme: 'dark',
    name: 'off',
  };
  const settings = readSettings({ ...given, title: '' }, source);
  assert.deepEqual(settings?.queues, ['a', 'b', 'c']);
  assert.equal(settings?.colour, '#00ff00');
  assert.equal(settings?.side, 'left');
  assert.equal(settings?.theme, 'dark');
  assert.equal(settings?.asksName, false);
  assert.equal(settings?.title, 'Chat with us');
  const odd = readSettings({ site: 's', token: 't', color: 'url(x)', position: 'top', theme: 'pink' }, source);
  assert.deepEqual([odd?.colour, odd?.side, odd?.theme], ['#1f5fbf', 'right', 'auto']);
});
