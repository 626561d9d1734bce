import type { RefObject } from 'preact';
import type { State } from '../state.ts';
import { positionInWords } from '../texts.ts';
import { Icon } from './icons.tsx';
import { words } from '../words.ts';

interface Props {
  readonly element: RefObject<HTMLButtonElement | null>;
  readonly state: State;
  readonly title: string;
  readonly onOpen: () => void;
}

export function Launcher({ element, state, title, onOpen }: Props) {
  const { unread } = state;
  return (
    <button ref={element} type="button" class="launcher" aria-haspopup="dialog" onClick={onOpen}>
      <Icon name="chat" />
      <span dir="auto">{labelOf(state, title)}</span>
      {unread > 0 && (
        <b class="badge">
          {unread}
          <span class="unseen"> {words.unread(unread)}</span>
        </b>
      )}
    </button>
  );
}

function labelOf(state: State, title: string): string {
  const { stage, staffed } = state;
  if (stage.name === 'waiting') return positionInWords({ ticket: stage.ticket, staffed });
  if (stage.name === 'engaged') return words.backToConversation;
  return title;
}
