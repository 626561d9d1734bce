import { useEffect, useRef } from 'preact/hooks';
import { textOn } from '../colour.ts';
import type { Calls } from '../calls.ts';
import type { Conversation } from '../conversation.ts';
import type { Settings } from '../settings.ts';
import { isShown, type State } from '../state.ts';
import type { Store } from '../store.ts';
import { Announcer } from './announcer.tsx';
import { Launcher } from './launcher.tsx';
import { Panel } from './panel.tsx';
import { Sound } from './sound.tsx';
import { useMediaQuery } from './use-media-query.ts';
import { useStore } from './use-store.ts';
import { words } from '../words.ts';

/** All that the parts of the widget need. */
export interface Parts {
  readonly settings: Settings;
  readonly store: Store<State>;
  readonly conversation: Conversation;
  readonly calls: Calls;
}

export function App(parts: Parts) {
  const { settings, store, conversation, calls } = parts;
  const state = useStore(store);
  const isDark = useMediaQuery('(prefers-color-scheme: dark)');
  const launcher = useRef<HTMLButtonElement>(null);
  const wasOpen = useRef(state.isPanelOpen);
  useEffect(() => {
    // Whoever closes the panel is back where it was opened.
    if (wasOpen.current && !state.isPanelOpen) launcher.current?.focus();
    wasOpen.current = state.isPanelOpen;
  }, [state.isPanelOpen]);
  const theme = settings.theme === 'auto' ? (isDark ? 'dark' : 'light') : settings.theme;
  return (
    <div
      class={`root ${settings.side}`}
      data-theme={theme}
      lang={words.locale}
      style={{ '--accent': settings.colour, '--on-accent': textOn(settings.colour) }}
    >
      {/* Somebody who hides the panel goes on talking. */}
      <Sound calls={calls} />
      <Announcer store={store} />
      {state.isPanelOpen && <Panel {...parts} state={state} />}
      {!state.isPanelOpen && isShown(state) && (
        <Launcher element={launcher} state={state} title={settings.title} onOpen={() => conversation.open()} />
      )}
    </div>
  );
}
