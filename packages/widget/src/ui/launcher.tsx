import type { RefObject } from 'preact';
import type { State } from '../state.ts';
import { describePosition } from '../chat/descriptions.ts';
import { Icon } from './icons.tsx';
import { texts } from '../texts.ts';

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
          <span aria-hidden="true">{unread}</span>
          <span class="visually-hidden">{texts.unreadMessages(unread)}</span>
        </b>
      )}
    </button>
  );
}

function labelOf(state: State, title: string): string {
  const { stage, staffedMedia } = state;
  if (stage.name === 'waiting') return describePosition({ ticket: stage.ticket, staffedMedia });
  if (stage.name === 'engaged') return texts.backToConversation;
  return title;
}
