import { Text } from '@mantine/core';
import type { ReactElement } from 'react';
import { RichText } from '../../../components/rich-text.tsx';
import classes from '../desk.module.css';
import { texts } from '../texts.ts';
import type { ThreadEntry } from './thread.ts';
import { useDesk } from '../use-desk.ts';

/** A call or transfer between the messages. */
export function ThreadNote({ entry }: { readonly entry: Exclude<ThreadEntry, { kind: 'message' }> }): ReactElement {
  return (
    <Text
      size={entry.kind === 'call' ? 'xs' : 'sm'}
      c="dimmed"
      className={classes['note'] ?? ''}
      title={new Date(entry.at).toLocaleString()}
    >
      {entry.kind === 'call' ? entry.text : <TransferText entry={entry} />}
    </Text>
  );
}

function TransferText({ entry }: { readonly entry: Extract<ThreadEntry, { kind: 'transfer' }> }): ReactElement {
  const { operatorId } = useDesk();
  const { from_operator_id: from, from_operator_name: name, message } = entry.transfer;
  return (
    <>
      {from === operatorId ? (
        texts.transferredByYou
      ) : (
        <RichText text={texts.transferredBy} values={{ name: <bdi>{name ?? texts.formerColleague}</bdi> }} />
      )}
      {message === null || message === '' ? null : (
        <>
          :{' '}
          <Text span inherit c="var(--mantine-color-text)" className="user-text">
            {message}
          </Text>
        </>
      )}
    </>
  );
}
