import { Button, Group, Text } from '@mantine/core';
import type { CallView } from '@usher/call/call-view';
import { joinLabel, type Media } from '@usher/call/media';
import { notifications } from '@mantine/notifications';
import { describeDeviceProblem } from '@usher/call/texts';
import { useEffect, useRef, useSyncExternalStore, type ReactElement } from 'react';
import { RichText } from '../../../components/rich-text.tsx';
import { describeError } from '../../../components/describe-error.ts';
import { formatClock } from '../../../components/time/duration.ts';
import { useNow } from '../../../components/time/elapsed-time.tsx';
import { texts } from '../texts.ts';
import classes from './call-panel.module.css';
import { CallDevices } from './call-devices.tsx';
import type { DeskCall } from './calls.ts';
import type { Conversation } from '../conversation/conversation.ts';
import { callMedia, isOpen } from '../conversation/selectors.ts';
import { useDesk } from '../use-desk.ts';
import { useReturnFocus } from '../use-return-focus.ts';

/** The call of the conversation, if there is one. */
export function CallPanel({ chat }: { readonly chat: Conversation }): ReactElement | null {
  const { calls } = useDesk();
  const deskCall = useSyncExternalStore(calls.subscribe, calls.state).get(chat.id);
  return deskCall === undefined || !isOpen(chat) ? null : <Panel chat={chat} deskCall={deskCall} />;
}

function Panel({ chat, deskCall }: { readonly chat: Conversation; readonly deskCall: DeskCall }): ReactElement {
  const { call } = deskCall;
  const view = useSyncExternalStore(call.subscribe, () => call.view);
  const media = callMedia(chat);
  const isInactive = ['idle', 'ended'].includes(view.state.name);
  const hasVideo = view.media.video !== null;
  return (
    <section className={classes['panel']} aria-label={texts.call}>
      {isInactive || !hasVideo ? null : <Videos view={view} />}
      <Group gap="xs" justify="space-between">
        <Text size="sm" fw={600} component="output">
          <CallStatus deskCall={deskCall} view={view} />
          {view.state.name === 'connected' && !view.other.microphone ? ` · ${texts.visitorMuted}` : ''}
          {view.state.name === 'connected' && !view.microphone ? ` · ${texts.yourMicrophoneOff}` : ''}
          {view.state.name === 'connected' && hasVideo && !view.camera ? ` · ${texts.yourCameraOff}` : ''}
        </Text>
        {!isInactive ? (
          <Controls deskCall={deskCall} view={view} />
        ) : media === null ? null : (
          <JoinControls
            chat={chat}
            isNew={view.state.name === 'idle' || deskCall.presence === 'visitor'}
            media={media}
          />
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

interface JoinControlsProps {
  readonly chat: Conversation;
  /** A call that can be joined. */
  readonly isNew: boolean;
  readonly media: Media;
}

function JoinControls({ chat, isNew, media }: JoinControlsProps): ReactElement {
  const { calls } = useDesk();
  const controls = useReturnFocus();
  const decline = (): void => {
    calls
      .decline(chat.id)
      .catch((error: unknown) =>
        notifications.show({ color: 'red', title: texts.couldNotEndCall, message: describeError(error) }),
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

function Controls({ deskCall, view }: { readonly deskCall: DeskCall; readonly view: CallView }): ReactElement {
  const { call, speaker } = deskCall;
  const controls = useReturnFocus();
  const hasVideo = view.media.video !== null;
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
      {!hasVideo ? null : (
        <Button
          size="compact-sm"
          variant="default"
          aria-pressed={!view.camera}
          onClick={() => void call.setCamera(!view.camera)}
        >
          {view.camera ? texts.cameraOff : texts.cameraOn}
        </Button>
      )}
      <CallDevices call={call} speaker={speaker} hasVideo={hasVideo} />
      <Button size="compact-sm" color="red" onClick={() => call.hangUp()}>
        {texts.hangUp}
      </Button>
    </Group>
  );
}

const callEndLabels = {
  hung_up: texts.youHungUp,
  other_hung_up: texts.visitorHungUp,
  unanswered: texts.visitorDidNotAnswer,
  lost: texts.connectionWasLost,
  closed: texts.callHasEnded,
} as const;

function CallStatus({ deskCall, view }: { readonly deskCall: DeskCall; readonly view: CallView }): ReactElement {
  const { state, media, other } = view;
  const now = useNow();
  if (deskCall.presence === 'elsewhere') return <>{texts.callInAnotherWindow}</>;
  if (deskCall.presence === 'visitor') return <>{texts.visitorInCall}</>;
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
            values={{ duration: <span className="tabular">{formatClock((now - state.since) / 1_000)}</span> }}
          />
        </>
      );
    case 'reconnecting':
      return <>{texts.reconnectingCall}</>;
    case 'ended':
      return <>{callEndLabels[state.reason]}</>;
  }
}

/** The visitor large, the operator small. The audio is played elsewhere, so that it continues without the panel. */
function Videos({ view }: { readonly view: CallView }): ReactElement {
  const receivesVideo = view.media.video === 'two_way';
  return (
    <div className={classes['pictures']}>
      {receivesVideo ? (
        <Video stream={view.remote} label={texts.visitorVideo} className={classes['remote'] ?? ''} />
      ) : null}
      {view.camera ? (
        <Video
          stream={view.local}
          label={texts.yourVideo}
          className={(receivesVideo ? classes['local'] : classes['remote']) ?? ''}
        />
      ) : null}
    </div>
  );
}

interface VideoProps {
  readonly stream: MediaStream;
  readonly label: string;
  readonly className: string;
}

function Video({ stream, label, className }: VideoProps): ReactElement {
  const video = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    if (video.current !== null) video.current.srcObject = stream;
  }, [stream]);
  return <video ref={video} className={className} aria-label={label} autoPlay playsInline muted />;
}
