import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { Message } from '../messages.ts';
import { linesOf, type Line } from '../lines.ts';
import { MessageLine } from './message-line.tsx';
import { engagementOf } from '../state.ts';
import type { PanelProps } from './panel.tsx';
import { UnsentLine } from './unsent-line.tsx';
import { words } from '../words.ts';

/** Whoever has scrolled up by more than this is reading there, and is left alone. */
const nearEnd = 80;

export function Log(props: PanelProps) {
  const { state } = props;
  const body = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const engagement = engagementOf(state.stage);
  const lines = linesOf({ ...state, engagement });
  useLayoutEffect(() => {
    if (isAtEnd.current && body.current !== null) body.current.scrollTop = body.current.scrollHeight;
  }, [state.messages, state.unsent, state.isOperatorTyping, state.stage.name, engagement?.calls]);
  useEffect(() => {
    if (body.current === null) return;
    // A call that takes half of the panel, or a keyboard, does not hide what was said last.
    const watcher = new ResizeObserver(() => {
      if (isAtEnd.current && body.current !== null) body.current.scrollTop = body.current.scrollHeight;
    });
    watcher.observe(body.current);
    return () => watcher.disconnect();
  }, []);
  const onScroll = ({ currentTarget: { scrollHeight, scrollTop, clientHeight } }: { currentTarget: HTMLElement }) => {
    isAtEnd.current = scrollHeight - scrollTop - clientHeight < nearEnd;
  };
  return (
    // A region that scrolls can be reached by keys.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div ref={body} class="body" tabIndex={0} role="log" aria-label={words.conversation} onScroll={onScroll}>
      <div class="log">
        {lines.map((line) => (
          // Visitors know what they wrote: it would be read out while it is sent, and once more when it has arrived.
          <div key={line.id} class="entry" aria-live={isOwn(line) ? 'off' : undefined}>
            <LineOf {...props} line={line} messages={state.messages} />
          </div>
        ))}
        {state.isOperatorTyping && (
          <div class="line">
            <div class="bubble typing" role="img" aria-label={words.typing}>
              <i />
              <i />
              <i />
            </div>
          </div>
        )}
      </div>
    </div>
  );
}

function isOwn(line: Line): boolean {
  return line.kind === 'unsent' || (line.kind === 'message' && line.message.from === 'visitor');
}

function LineOf({ line, ...props }: PanelProps & { readonly line: Line; readonly messages: readonly Message[] }) {
  switch (line.kind) {
    case 'message':
      return <MessageLine {...props} message={line.message} isLastOwn={line.isLastOwn} operator={line.operator} />;
    case 'unsent':
      return <UnsentLine chat={props.conversation.chat} unsent={line.unsent} />;
    case 'event':
      return <p class="event">{line.text}</p>;
  }
}
