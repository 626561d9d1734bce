import { useEffect, useRef, useState } from 'preact/hooks';
import { canCall } from '../calls/can-call.ts';
import type { State } from '../state.ts';
import { RequestCall } from './request-call.tsx';
import { Chat } from './chat.tsx';
import { useDropTarget } from './hooks/use-drop-target.ts';
import { Icon } from './icons.tsx';
import type { PanelProps } from './props.ts';
import { Start } from './start.tsx';
import { trapFocus } from './hooks/trap-focus.ts';
import { useMediaQuery } from './hooks/use-media-query.ts';
import { useVisibleHeight } from './hooks/use-visible-height.ts';
import { Waiting } from './waiting.tsx';
import { texts } from '../texts.ts';

/** The window of the widget: in a corner of the page, on small screens over the whole page. */
export function Panel(props: PanelProps) {
  const { settings, conversation, state } = props;
  const { stage } = state;
  const isFullScreen = useMediaQuery('(max-width: 480px), (max-height: 420px)');
  const panel = useRef<HTMLDivElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const [isEnding, setIsEnding] = useState(false);
  // Whether the panel had the focus before this render. The browser loses the focus together with a removed element.
  const hadFocus = useRef(true);
  // oxlint-disable-next-line react/refs -- the old elements exist only until this render ends.
  if (panel.current !== null) hadFocus.current = hasFocus(panel.current);
  useEffect(() => {
    // A message field has already taken the focus in its own effect.
    if (hadFocus.current && panel.current !== null && !hasFocus(panel.current)) heading.current?.focus();
  });
  useEffect(() => setIsEnding(false), [stage.name]);
  useVisibleHeight(panel, isFullScreen);
  const acceptsFiles = stage.name === 'engaged' && state.fileRules !== null;
  const { isDraggedOver, ...dropHandlers } = useDropTarget(
    acceptsFiles ? (files) => conversation.chat.attach(files) : null,
  );
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') conversation.close();
    else if (isFullScreen) trapFocus(event);
  };
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- Escape closes the panel, as in any dialog.
    <div
      ref={panel}
      class={`panel ${stage.name}`}
      role="dialog"
      aria-modal={isFullScreen}
      aria-label={settings.title}
      onKeyDown={onKeyDown}
      {...dropHandlers}
    >
      {isDraggedOver && (
        <div class="drop" aria-hidden="true">
          {texts.dropFiles}
        </div>
      )}
      <div class="head">
        <h2 ref={heading} tabIndex={-1} dir="auto">
          {settings.title}
        </h2>
        {canCall && stage.name === 'engaged' && stage.callMedia?.video !== 'two_way' && (
          <RequestCall {...props} stage={stage} />
        )}
        {stage.name === 'engaged' && (
          <button type="button" class="icon labelled" aria-expanded={isEnding} onClick={() => setIsEnding(!isEnding)}>
            <Icon name="leave" />
            {texts.endChat}
          </button>
        )}
        <button
          type="button"
          class="icon"
          title={texts.minimize}
          aria-label={texts.minimize}
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
  const keepButton = useRef<HTMLButtonElement>(null);
  useEffect(() => keepButton.current?.focus(), []);
  return (
    <div class="bar" role="alertdialog" aria-label={texts.confirmEnd}>
      <p>{texts.confirmEnd}</p>
      <button type="button" class="button small main" onClick={() => void conversation.end()}>
        {texts.endChat}
      </button>
      <button ref={keepButton} type="button" class="button small" onClick={onClose}>
        {texts.keepChatting}
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
          <p>{texts.connectionLost}</p>
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
