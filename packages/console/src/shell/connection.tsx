import { Badge, Tooltip } from '@mantine/core';
import type { FeedState } from '@usher/client/feed';
import type { ReactElement } from 'react';
import { useFeedState } from '../live/use-live-feed.ts';
import { texts } from './texts.ts';

const badges: Readonly<Record<FeedState, { color: string; label: string; meaning: string }>> = {
  open: { color: 'green', label: texts.live, meaning: texts.liveHelp },
  connecting: { color: 'gray', label: texts.connecting, meaning: texts.connectingHelp },
  lost: {
    color: 'orange',
    label: texts.reconnecting,
    meaning: texts.reconnectingHelp,
  },
  ended: { color: 'red', label: texts.notLive, meaning: texts.notLiveHelp },
};

/** The state of the live feed. */
export function Connection(): ReactElement {
  const { color, label, meaning } = badges[useFeedState()];
  return (
    <Tooltip label={meaning} multiline maw={260}>
      <Badge color={color} variant="light" component="output">
        {label}
      </Badge>
    </Tooltip>
  );
}
