import { Badge, Tooltip } from '@mantine/core';
import type { FeedState } from '@usher/client/feed';
import type { ReactElement } from 'react';
import { useLiveState } from '../live/use-live.ts';

const words: Readonly<Record<FeedState, { color: string; label: string; meaning: string }>> = {
  open: { color: 'green', label: 'Live', meaning: 'What you see changes as it happens.' },
  connecting: { color: 'gray', label: 'Connecting', meaning: 'Connecting to the server.' },
  lost: {
    color: 'orange',
    label: 'Reconnecting',
    meaning: 'The server cannot be reached. Everything missed meanwhile comes as soon as it can.',
  },
  ended: { color: 'red', label: 'Not live', meaning: 'The server refuses the live feed. Load the page again.' },
};

/** Whether what is shown is true now. */
export function Connection(): ReactElement {
  const { color, label, meaning } = words[useLiveState()];
  return (
    <Tooltip label={meaning} multiline maw={260}>
      <Badge color={color} variant="light" component="output">
        {label}
      </Badge>
    </Tooltip>
  );
}
