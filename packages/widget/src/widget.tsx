import { Api } from '@usher/client/api';
import { render } from 'preact';
import { Availability } from './availability.ts';
import { Calls } from './calls.ts';
import { Conversation } from './conversation.ts';
import { readSettings, type Settings } from './settings.ts';
import { initialState, type State } from './state.ts';
import { Storage } from './storage.ts';
import { Store } from './store.ts';
import { App } from './ui/app.tsx';
import { Visitor } from './visitor.ts';
import styles from './widget.css?inline';
import { languageOf, speak, type Words } from './words.ts';

/** Only while the script runs is it known which tag it is of. */
const tag = document.currentScript ?? document.querySelector('script[data-site][data-token][src*="widget.js"]');

const name = 'usher-widget';

/** By their tags, which are the names of their files. */
const languages = new Map(
  Object.entries(import.meta.glob<Words>('./languages/*.ts', { eager: true, import: 'words' })).map(([path, words]) => [
    path.slice('./languages/'.length, -'.ts'.length),
    words,
  ]),
);
speak(languageOf(document.documentElement.lang, languages));

function start(settings: Settings): void {
  if (document.querySelector(name) !== null) {
    // oxlint-disable-next-line no-console -- for the developer of the page.
    return console.warn('Usher: this page has more than one script tag of widget.js. Only the first one is used.');
  }
  const storage = new Storage(`usher.${settings.site}.`, () => localStorage);
  const ofTab = new Storage(`usher.${settings.site}.`, () => sessionStorage);
  const visitor = new Visitor(settings, storage);
  const isYes = (value: unknown): value is true => value === true;
  const store = new Store({ ...initialState, isPanelOpen: ofTab.get('open', isYes) ?? false });
  store.subscribe(() => ofTab.set('open', store.value.isPanelOpen));
  const api = new Api({
    base: settings.origin,
    authorization: async () => visitor.authorization(),
    renew: async (refused) => visitor.renew(refused),
  });
  const anybody = new Api({
    base: settings.origin,
    authorization: async () => `ApplicationToken ${settings.token}`,
  });
  const calls = new Calls({ api, storage, store });
  const conversation = new Conversation({
    api,
    settings,
    storage,
    visitor,
    store,
    onSignal: (signal) => calls.receive(signal),
    onOpen: () => calls.resync(),
  });
  const availability = new Availability({
    api: anybody,
    settings,
    queues: () => queuesToAsk(store.value, settings),
    // What the queues of a ticket let in says nothing about the others.
    tell: ({ open, ...more }) => store.set(store.value.stage.name === 'waiting' ? more : { open, ...more }),
  });
  let { name: stage } = store.value.stage;
  store.subscribe(() => {
    const hasChanged = stage !== store.value.stage.name;
    stage = store.value.stage.name;
    if (hasChanged) availability.look();
  });
  conversation.resume();
  availability.look();
  mount(<App settings={settings} store={store} conversation={conversation} calls={calls} />);
}

/** `null`: whoever is being connected, or is, has no use for it. */
function queuesToAsk({ stage }: State, { queues }: Settings): readonly string[] | null {
  if (stage.name === 'waiting') return stage.ticket?.queue_ids ?? null;
  return stage.name === 'idle' || stage.name === 'ended' ? queues : null;
}

/**
 * Beside the body, so that neither what the page does to its body nor a framework that replaces it reaches us; its styles
 * come as an object and not as text, which no policy of the page forbids. The root is open: a closed one keeps nobody out
 * who runs scripts in the page, only the tools of people who need them.
 */
function mount(app: Parameters<typeof render>[0]): void {
  const host = document.createElement(name);
  const root = host.attachShadow({ mode: 'open' });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(styles);
  root.adoptedStyleSheets = [sheet];
  // The page has its own use for keys.
  for (const type of ['keydown', 'keypress', 'keyup', 'input'])
    root.addEventListener(type, (event) => event.stopPropagation());
  document.documentElement.append(host);
  render(app, root);
  // In the top layer nothing of the page covers us, and a transformed <html>, to which `position: fixed` would else be
  // relative, does not move us. Where a browser has no popovers, the highest z-index has to do.
  if ('showPopover' in host) {
    host.popover = 'manual';
    host.showPopover();
  }
}

const settings = tag instanceof HTMLScriptElement ? readSettings(tag.dataset, tag.src || location.href) : null;
if (settings === null) {
  // oxlint-disable-next-line no-console -- for the developer of the page.
  console.warn('Usher: the script tag of widget.js needs data-site and data-token.');
} else if (document.readyState === 'loading') {
  document.addEventListener('DOMContentLoaded', () => start(settings));
} else start(settings);
