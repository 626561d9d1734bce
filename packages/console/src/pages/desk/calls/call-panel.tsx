import { Button, Group, Text } from '@mantine/core';
import type { CallView } from '@usher/call/call-view';
import { joinLabel, type Media } from '@usher/call/media';
import { notifications } from '@mantine/notifications';
import { describeDeviceProblem } from '@usher/call/device-problem';
import { useEffect, useRef, useSyncExternalStore, type ReactElement } from 'react';
import { RichText } from '../../../components/rich-text.tsx';
import { inWords } from '../../../components/in-words.ts';
import { inClock } from '../../../components/duration.ts';
import { useNow } from '../../../components/since.tsx';
import { texts } from '../texts.ts';
import classes from './call-panel.module.css';
import { CallDevices } from './call-devices.tsx';
import type { DeskCall } from './calls.ts';
import type { Conversation } from '../conversation/conversation.ts';
import { callMedia, isOpen } from '../conversation/reading.ts';
import { useDesk } from '../use-desk.ts';
import { useFocusHeir } from '../use-focus-heir.ts';

/** The call of the conversation, if there is one. */
export function CallPanel({ chat }: { readonly chat: Conversation }): ReactElement | null {
  const { calls } = useDesk();
  const known = useSyncExternalStore(calls.subscribe, calls.state).get(chat.id);
  return known === undefined || !isOpen(chat) ? null : <Panel chat={chat} known={known} />;
}

function Panel({ chat, known }: { readonly chat: Conversation; readonly known: DeskCall }): ReactElement {
  const { call } = known;
  const view = useSyncExternalStore(call.subscribe, () => call.view);
  const media = callMedia(chat);
  const isAway = ['idle', 'ended'].includes(view.state.name);
  const isSent = view.media.video !== null;
  return (
    <section className={classes['panel']} aria-label={texts.call}>
      {isAway || !isSent ? null : <Pictures view={view} />}
      <Group gap="xs" justify="space-between">
        <Text size="sm" fw={600} component="output">
          <StateInWords known={known} view={view} />
          {view.state.name === 'connected' && !view.other.microphone ? ` · ${texts.visitorMuted}` : ''}
          {view.state.name === 'connected' && isSent && !view.camera ? ` · ${texts.yourCameraOff}` : ''}
        </Text>
        {!isAway ? (
          <Controls known={known} view={view} />
        ) : media === null ? null : (
          <Joinable chat={chat} isNew={view.state.name === 'idle' || known.presence === 'visitor'} media={media} />
        )}
      </Group>
      {view.problems.map((problem) => (
        <Text key={problem.device} size="sm" c="var(--mantine-color-error)" role="alert">
          {describeDeviceProblem(problem)}
        </Text>
      ))}
    </section>
  );
}

interface JoinableProps {
  readonly chat: Conversation;
  /** A call that can be joined. */
  readonly isNew: boolean;
  readonly media: Media;
}

function Joinable({ chat, isNew, media }: JoinableProps): ReactElement {
  const { calls } = useDesk();
  const controls = useFocusHeir();
  const decline = (): void => {
    calls
      .decline(chat.id)
      .catch((error: unknown) =>
        notifications.show({ color: 'red', title: texts.couldNotEndCall, message: inWords(error) }),
      );
  };
  return (
    <Group ref={controls} gap={6}>
      <Button size="compact-sm" onClick={() => calls.join(chat.id, media)}>
        {isNew ? joinLabel('operator', media) : texts.callAgain}
      </Button>
      <Button size="compact-sm" variant="default" onClick={decline}>
        {texts.backToChat}
      </Button>
    </Group>
  );
}

function Controls({ known, view }: { readonly known: DeskCall; readonly view: CallView }): ReactElement {
  const { call, speaker } = known;
  const controls = useFocusHeir();
  const isSent = view.media.video !== null;
  return (
    <Group ref={controls} gap={6}>
      <Button
        size="compact-sm"
        variant="default"
        aria-pressed={!view.microphone}
        onClick={() => void call.setMicrophone(!view.microphone)}
      >
        {view.microphone ? texts.mute : texts.unmute}
      </Button>
      {!isSent ? null : (
        <Button
          size="compact-sm"
          variant="default"
          aria-pressed={!view.camera}
          onClick={() => void call.setCamera(!view.camera)}
        >
          {view.camera ? texts.cameraOff : texts.cameraOn}
        </Button>
      )}
      <CallDevices call={call} speaker={speaker} hasVideo={isSent} />
      <Button size="compact-sm" color="red" onClick={() => call.hangUp()}>
        {texts.hangUp}
      </Button>
    </Group>
  );
}

const endWords = {
  hung_up: texts.youHungUp,
  other_hung_up: texts.visitorHungUp,
  unanswered: texts.visitorDidNotAnswer,
  lost: texts.connectionWasLost,
  closed: texts.callHasEnded,
} as const;

function StateInWords({ known, view }: { readonly known: DeskCall; readonly view: CallView }): ReactElement {
  const { state, media, other } = view;
  const now = useNow();
  if (known.presence === 'elsewhere') return <>{texts.callInAnotherWindow}</>;
  if (known.presence === 'visitor') return <>{texts.visitorCalling}</>;
  if (other.isGone && state.name !== 'ended') return <>{texts.visitorLeftCall}</>;
  switch (state.name) {
    case 'idle':
      return <>{media.video !== null ? texts.videoCallInProgress : texts.callInProgress}</>;
    case 'preparing':
      return <>{texts.waitingForMicrophoneAccess}</>;
    case 'connecting':
      return <>{texts.callingVisitor}</>;
    case 'connected':
      return (
        <>
          <RichText
            text={texts.inCall}
            values={{ duration: <span className="tabular">{inClock((now - state.since) / 1_000)}</span> }}
          />
        </>
      );
    case 'reconnecting':
      return <>{texts.reconnectingCall}</>;
    case 'ended':
      return <>{endWords[state.reason]}</>;
  }
}

/** The visitor large, the operator small. The audio is played elsewhere, so that it continues without the panel. */
function Pictures({ view }: { readonly view: CallView }): ReactElement {
  const isSeen = view.media.video === 'two_way';
  return (
    <div className={classes['pictures']}>
      {isSeen ? <Picture stream={view.remote} label={texts.visitor} className={classes['remote'] ?? ''} /> : null}
      {view.camera ? (
        <Picture
          stream={view.local}
          label={texts.you}
          className={(isSeen ? classes['local'] : classes['remote']) ?? ''}
        />
      ) : null}
    </div>
  );
}

interface PictureProps {
  readonly stream: MediaStream;
  readonly label: string;
  readonly className: string;
}

function Picture({ stream, label, className }: PictureProps): ReactElement {
  const video = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    if (video.current !== null) video.current.srcObject = stream;
  }, [stream]);
  return <video ref={video} className={className} aria-label={label} autoPlay playsInline muted />;
}
