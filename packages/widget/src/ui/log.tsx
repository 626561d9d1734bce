import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { Message } from '../chat/messages.ts';
import { linesOf, type Line } from '../chat/lines.ts';
import { MessageLine } from './message-line.tsx';
import { engagementOf } from '../state.ts';
import type { PanelProps } from './props.ts';
import { UnsentLine } from './unsent-line.tsx';
import { texts } from '../texts.ts';

/** The log scrolls to new messages only if the visitor has scrolled up by less than this, in pixels. */
const nearEndPx = 80;

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
    // When a call or a keyboard shrinks the log, the last message stays visible.
    const observer = new ResizeObserver(() => {
      if (isAtEnd.current && body.current !== null) body.current.scrollTop = body.current.scrollHeight;
    });
    observer.observe(body.current);
    return () => observer.disconnect();
  }, []);
  const onScroll = ({ currentTarget: { scrollHeight, scrollTop, clientHeight } }: { currentTarget: HTMLElement }) => {
    isAtEnd.current = scrollHeight - scrollTop - clientHeight < nearEndPx;
  };
  return (
    // A region that scrolls must be reachable by keyboard.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div ref={body} class="body" tabIndex={0} role="log" aria-label={texts.conversation} onScroll={onScroll}>
      <div class="log">
        {lines.map((line) => (
          // The visitor's own messages are not announced: they would be read out twice, when sent and when delivered.
          <div key={line.id} class="entry" aria-live={isOwn(line) ? 'off' : undefined}>
            <LogLine {...props} line={line} messages={state.messages} />
          </div>
        ))}
        {state.isOperatorTyping && (
          <div class="line">
            <div class="bubble typing" role="img" aria-label={texts.typing}>
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

function LogLine({ line, ...props }: PanelProps & { readonly line: Line; readonly messages: readonly Message[] }) {
  switch (line.kind) {
    case 'message':
      return <MessageLine {...props} message={line.message} isLastOwn={line.isLastOwn} operator={line.operator} />;
    case 'unsent':
      return <UnsentLine chat={props.conversation.chat} unsent={line.unsent} />;
    case 'event':
      return <p class="event">{line.text}</p>;
  }
}
