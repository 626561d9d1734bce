import { useEffect, useRef } from 'preact/hooks';
import { textColourOn } from '../colour.ts';
import { isShown } from '../state.ts';
import { Announcer } from './announcer.tsx';
import { Launcher } from './launcher.tsx';
import { Panel } from './panel.tsx';
import type { AppProps } from './props.ts';
import { RemoteAudio } from './remote-audio.tsx';
import { useMediaQuery } from './hooks/use-media-query.ts';
import { useStore } from './hooks/use-store.ts';
import { texts } from '../texts.ts';

export function App(props: AppProps) {
  const { settings, store, conversation, calls } = props;
  const state = useStore(store);
  const isDark = useMediaQuery('(prefers-color-scheme: dark)');
  const launcher = useRef<HTMLButtonElement>(null);
  const wasOpen = useRef(state.isPanelOpen);
  useEffect(() => {
    // Closing the panel returns the focus to the button that opened it.
    if (wasOpen.current && !state.isPanelOpen) launcher.current?.focus();
    wasOpen.current = state.isPanelOpen;
  }, [state.isPanelOpen]);
  const theme = settings.theme === 'auto' ? (isDark ? 'dark' : 'light') : settings.theme;
  return (
    <div
      class={`root ${settings.side}`}
      data-theme={theme}
      lang={texts.locale}
      style={{ '--accent': settings.colour, '--on-accent': textColourOn(settings.colour) }}
    >
      {/* Outside the panel: a call continues while the panel is minimized. */}
      <RemoteAudio calls={calls} />
      <Announcer store={store} />
      {state.isPanelOpen && <Panel {...props} state={state} />}
      {!state.isPanelOpen && isShown(state) && (
        <Launcher element={launcher} state={state} title={settings.title} onOpen={() => conversation.open()} />
      )}
    </div>
  );
}
