import { Api } from '@usher/client/api';
import { render } from 'preact';
import { Availability } from './availability.ts';
import { Calls } from './calls/calls.ts';
import { Conversation } from './conversation.ts';
import { readSettings, type Settings } from './settings.ts';
import { initialState, type State } from './state.ts';
import { Storage } from './storage.ts';
import { Store } from './store.ts';
import { App } from './ui/app.tsx';
import { Visitor } from './visitor.ts';
import styles from './widget.css?inline';
import { languageFor, setLanguage, type Texts } from './texts.ts';

/** `currentScript` is set only while the script first runs. */
const tag = document.currentScript ?? document.querySelector('script[data-site][data-token][src*="widget.js"]');

const elementName = 'usher-widget';

/** Languages by tag; a language file is named by its tag. */
const languages = new Map(
  Object.entries(import.meta.glob<Texts>('./languages/*.ts', { eager: true, import: 'texts' })).map(([path, texts]) => [
    path.slice('./languages/'.length, -'.ts'.length),
    texts,
  ]),
);
setLanguage(languageFor(document.documentElement.lang, languages));

function start(settings: Settings): void {
  if (document.querySelector(elementName) !== null) {
    // oxlint-disable-next-line no-console -- for the developer of the page.
    return console.warn('Usher: this page has more than one script tag for widget.js. Only the first one is used.');
  }
  const storage = new Storage(`usher.${settings.site}.`, () => localStorage);
  const tabStorage = new Storage(`usher.${settings.site}.`, () => sessionStorage);
  const visitor = new Visitor(settings, storage);
  const isTrue = (value: unknown): value is true => value === true;
  const store = new Store({ ...initialState, isPanelOpen: tabStorage.get('open', isTrue) ?? false });
  store.subscribe(() => tabStorage.set('open', store.value.isPanelOpen));
  const api = new Api({
    base: settings.baseUrl,
    authorization: async () => visitor.authorization(),
    renew: async (refused) => visitor.renew(refused),
  });
  const publicApi = new Api({
    base: settings.baseUrl,
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
    onFeedOpen: () => calls.resync(),
    onCallRefused: () => calls.withdraw(),
  });
  const availability = new Availability({
    api: publicApi,
    settings,
    queueIds: () => queuesToPoll(store.value, settings),
    // While waiting only the queues of the ticket are polled: they say nothing about the other queues.
    onRead: ({ openMedia, ...rest }) => store.set(store.value.stage.name === 'waiting' ? rest : { openMedia, ...rest }),
  });
  let { name: stage } = store.value.stage;
  store.subscribe(() => {
    const hasChanged = stage !== store.value.stage.name;
    stage = store.value.stage.name;
    if (hasChanged) availability.poll();
  });
  conversation.resume();
  availability.poll();
  mount(<App settings={settings} store={store} conversation={conversation} calls={calls} />);
}

/** `null`: availability does not matter while the conversation starts or runs. */
function queuesToPoll({ stage }: State, { queues }: Settings): readonly string[] | null {
  if (stage.name === 'waiting') return stage.ticket?.queue_ids ?? null;
  return stage.name === 'idle' || stage.name === 'ended' ? queues : null;
}

/**
 * Mounts the widget beside the body, so that a page or framework that replaces the body does not remove it. The styles are a
 * `CSSStyleSheet` object, because a content security policy may forbid style elements. The shadow root is open: a closed one would not
 * protect against scripts of the page, but would shut out assistive tools.
 */
function mount(app: Parameters<typeof render>[0]): void {
  const host = document.createElement(elementName);
  const root = host.attachShadow({ mode: 'open' });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(styles);
  root.adoptedStyleSheets = [sheet];
  // Keys typed in the widget must not trigger the page's shortcuts.
  for (const type of ['keydown', 'keypress', 'keyup', 'input'])
    root.addEventListener(type, (event) => event.stopPropagation());
  document.documentElement.append(host);
  render(app, root);
  // In the top layer the page cannot cover the widget, and a transformed <html> does not move it (`position: fixed` would be relative
  // to it). Browsers without popovers get the highest z-index.
  if ('showPopover' in host) {
    host.popover = 'manual';
    host.showPopover();
  }
}

const settings = tag instanceof HTMLScriptElement ? readSettings(tag.dataset, tag.src || location.href) : null;
if (settings === null) {
  // oxlint-disable-next-line no-console -- for the developer of the page.
  console.warn('Usher: the script tag for widget.js needs data-site and data-token.');
} else if (document.readyState === 'loading') {
  document.addEventListener('DOMContentLoaded', () => start(settings));
} else start(settings);
