import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings } from './settings.ts';

const source = 'https://usher.example.com/widget.js?v=1';

test('a site and a token are enough, and Usher is where the script was loaded from', () => {
  const settings = readSettings({ site: ' s ', token: 'pub_t' }, source);
  assert.deepEqual(settings, {
    site: 's',
    token: 'pub_t',
    baseUrl: 'https://usher.example.com',
    queues: [],
    title: 'Chat with us',
    greeting: 'How would you like to talk to us?',
    colour: '#1f5fbf',
    side: 'right',
    theme: 'auto',
    asksName: true,
  });
});

test('a proxy may serve Usher under a path', () => {
  const baseUrlOf = (from: string): string | undefined => readSettings({ site: 's', token: 't' }, from)?.baseUrl;
  assert.equal(baseUrlOf('https://example.com/usher/widget.js?v=1'), 'https://example.com/usher');
  // The tag has no `src`, so the page itself is the source.
  assert.equal(baseUrlOf('https://example.com/shop/chairs.html'), 'https://example.com');
});

test('there is no widget without a site and a token', () => {
  assert.equal(readSettings({ site: 's' }, source), null);
  assert.equal(readSettings({ token: 't', site: ' ' }, source), null);
});

test('valid attributes are used, and invalid ones are replaced by the defaults', () => {
  const dataset = {
    site: 's',
    token: 't',
    queues: 'a, b  c',
    color: '#0F0',
    position: 'left',
    theme: 'dark',
    name: 'off',
  };
  const settings = readSettings({ ...dataset, title: '' }, source);
  assert.deepEqual(settings?.queues, ['a', 'b', 'c']);
  assert.equal(settings?.colour, '#00ff00');
  assert.equal(settings?.side, 'left');
  assert.equal(settings?.theme, 'dark');
  assert.equal(settings?.asksName, false);
  assert.equal(settings?.title, 'Chat with us');
  const invalid = readSettings({ site: 's', token: 't', color: 'url(x)', position: 'top', theme: 'pink' }, source);
  assert.deepEqual([invalid?.colour, invalid?.side, invalid?.theme], ['#1f5fbf', 'right', 'auto']);
});
