import { useEffect, useRef, useState } from 'preact/hooks';
import { canCall } from '../can-call.ts';
import type { State } from '../state.ts';
import type { Parts } from './app.tsx';
import { AskForCall } from './ask-for-call.tsx';
import { Chat } from './chat.tsx';
import { useDropTarget } from './use-drop-target.ts';
import { Icon } from './icons.tsx';
import { Start } from './start.tsx';
import { trapFocus } from './trap-focus.ts';
import { useMediaQuery } from './use-media-query.ts';
import { useVisibleHeight } from './use-visible-height.ts';
import { Waiting } from './waiting.tsx';
import { words } from '../words.ts';

export interface PanelProps extends Parts {
  readonly state: State;
}

/** A window on a corner of the page; on a phone all of it. */
export function Panel(props: PanelProps) {
  const { settings, conversation, state } = props;
  const { stage } = state;
  const isWhole = useMediaQuery('(max-width: 480px), (max-height: 420px)');
  const panel = useRef<HTMLDivElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const [isEnding, setIsEnding] = useState(false);
  // Whether what is about to be replaced has the focus: the browser forgets it with the element.
  const hadFocus = useRef(true);
  // oxlint-disable-next-line react/refs -- only now are the old elements still there.
  if (panel.current !== null) hadFocus.current = hasFocus(panel.current);
  useEffect(() => {
    // Where there is something to write into, that has taken the focus already.
    if (hadFocus.current && panel.current !== null && !hasFocus(panel.current)) heading.current?.focus();
  });
  useEffect(() => setIsEnding(false), [stage.name]);
  useVisibleHeight(panel, isWhole);
  const takesFiles = stage.name === 'engaged' && state.fileRules !== null;
  const { isOver, ...dropping } = useDropTarget(takesFiles ? (files) => conversation.chat.attach(files) : null);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') conversation.close();
    else if (isWhole) trapFocus(event);
  };
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- Escape closes it, as people expect.
    <div
      ref={panel}
      class={`panel ${stage.name}`}
      role="dialog"
      aria-modal={isWhole}
      aria-label={settings.title}
      onKeyDown={onKeyDown}
      {...dropping}
    >
      {isOver && (
        <div class="drop" aria-hidden="true">
          {words.dropFiles}
        </div>
      )}
      <div class="head">
        <h2 ref={heading} tabIndex={-1} dir="auto">
          {settings.title}
        </h2>
        {canCall && stage.name === 'engaged' && stage.callMedia?.video !== 'two_way' && (
          <AskForCall upgrades={conversation.upgrades} stage={stage} />
        )}
        {stage.name === 'engaged' && (
          <button type="button" class="icon labelled" aria-expanded={isEnding} onClick={() => setIsEnding(!isEnding)}>
            <Icon name="leave" />
            {words.endChat}
          </button>
        )}
        <button
          type="button"
          class="icon"
          title={words.hideWindow}
          aria-label={words.hideWindow}
          onClick={() => conversation.close()}
        >
          <Icon name="down" />
        </button>
      </div>
      <Connection state={state} />
      {isEnding && stage.name === 'engaged' && <ConfirmEnd {...props} onClose={() => setIsEnding(false)} />}
      <Content {...props} />
    </div>
  );
}

function hasFocus(panel: HTMLElement): boolean {
  return panel.contains((panel.getRootNode() as ShadowRoot).activeElement);
}

function ConfirmEnd({ conversation, onClose }: PanelProps & { readonly onClose: () => void }) {
  const keep = useRef<HTMLButtonElement>(null);
  useEffect(() => keep.current?.focus(), []);
  return (
    <div class="bar" role="alertdialog" aria-label={words.confirmEnd}>
      <p>{words.confirmEnd}</p>
      <button type="button" class="button small main" onClick={() => void conversation.end()}>
        {words.endChat}
      </button>
      <button ref={keep} type="button" class="button small" onClick={onClose}>
        {words.keepChatting}
      </button>
    </div>
  );
}

function Connection({ state: { stage, connection } }: { readonly state: State }) {
  const isLost = connection === 'lost' && (stage.name === 'waiting' || stage.name === 'engaged');
  return (
    <div role="status">
      {isLost && (
        <div class="bar offline">
          <p>{words.connectionLost}</p>
        </div>
      )}
    </div>
  );
}

function Content(props: PanelProps) {
  const { stage } = props.state;
  switch (stage.name) {
    case 'idle':
    case 'starting':
      return <Start {...props} />;
    case 'waiting':
      return <Waiting {...props} ticket={stage.ticket} />;
    case 'engaged':
    case 'ended':
      return <Chat {...props} stage={stage} />;
  }
}
