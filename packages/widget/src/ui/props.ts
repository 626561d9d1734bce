import type { Calls } from '../calls/calls.ts';
import type { Conversation } from '../conversation.ts';
import type { Settings } from '../settings.ts';
import type { State } from '../state.ts';
import type { Store } from '../store.ts';

/** What the widget gives to its pages, from the outside in. */
export interface AppProps {
  readonly settings: Settings;
  readonly store: Store<State>;
  readonly conversation: Conversation;
  readonly calls: Calls;
}

export interface PanelProps extends AppProps {
  readonly state: State;
}
