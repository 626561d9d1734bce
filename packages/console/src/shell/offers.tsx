import { Badge, Button, Group, Kbd, Progress, Text, VisuallyHidden } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useCallback, useEffect, useEffectEvent, useState, type ReactElement, type RefCallback } from 'react';
import { useLocation } from 'wouter';
import { describeError } from '../components/describe-error.ts';
import { mediumName } from '../components/medium.ts';
import { confirmLeave, discardUnsavedChanges } from '../components/editing/unsaved-changes.ts';
import { useNow } from '../components/time/elapsed-time.tsx';
import { useQueueName } from '../data/use-queue-name.ts';
import { useVisitorName } from '../data/use-visitor.ts';
import { callConsents } from '../live/call-consents.ts';
import { play, useSound } from '../live/sound.ts';
import { useSession } from '../session/use-session.ts';
import { callMediaOf, secondsLeft, type Offer } from './offer.ts';
import classes from './offers.module.css';
import { usePendingCount } from './tab-title.ts';
import { texts } from './texts.ts';
import { useOffers } from './use-offers.ts';

type Answer = 'accept' | 'decline';

/** The ringtone repeats at this interval. */
const ringMs = 4_000;

interface Props {
  /** Reports the height of the offers in pixels, so that the page leaves room for them; 0 without offers. */
  readonly onHeight: (pixels: number) => void;
}

/** The offers, on every page. Alt+A and Alt+D answer the oldest. */
export function Offers({ onHeight }: Props): ReactElement {
  const offers = useOffers();
  const dock = useHeight(onHeight);
  const { answer, answering } = useAnswer();
  usePendingCount('offers', offers.length);
  useRinging(offers.length > 0);
  useAnswerKeys((how) => {
    const [first] = offers;
    if (first !== undefined) void answer(first, how);
  });
  return (
    <>
      <VisuallyHidden component="output">
        {offers.length === 0 ? '' : texts.offersWaiting(offers.length)}
      </VisuallyHidden>
      {offers.length === 0 ? null : (
        <section ref={dock} className={classes['dock']} aria-label={texts.offers}>
          {offers.map((offer, index) => (
            <OfferCard
              key={offer.id}
              offer={offer}
              isFirst={index === 0}
              isAnswering={answering === offer.id}
              answer={(how) => void answer(offer, how)}
            />
          ))}
        </section>
      )}
    </>
  );
}

interface CardProps {
  readonly offer: Offer;
  readonly isFirst: boolean;
  readonly isAnswering: boolean;
  readonly answer: (how: Answer) => void;
}

function OfferCard({ offer, isFirst, isAnswering, answer }: CardProps): ReactElement {
  const name = useVisitorName(offer.siteId, offer.visitorId);
  const queue = useQueueName(offer.siteId, offer.queueId);
  const leftSec = secondsLeft(offer, useNow());
  const how = offer.kind === 'transfer' ? texts.transferredByColleague : (queue ?? texts.directRequest);
  return (
    <article className={classes['offer']} aria-label={texts.offer(name)}>
      {/* The buttons are at the start: at the end, they could appear under a pointer that is about to click Send or Save. */}
      <Group gap="xs" wrap="nowrap" flex="none">
        <Button
          size="xs"
          loading={isAnswering}
          onClick={() => answer('accept')}
          rightSection={isFirst ? <Hint keys={texts.altA} /> : null}
        >
          {acceptLabel(offer)}
        </Button>
        <Button
          size="xs"
          variant="default"
          disabled={isAnswering}
          onClick={() => answer('decline')}
          rightSection={isFirst ? <Hint keys={texts.altD} /> : null}
        >
          {texts.decline}
        </Button>
      </Group>
      <div className={classes['who']}>
        <Group gap="xs" wrap="nowrap">
          <Text fw={650} truncate title={name}>
            <bdi>{name}</bdi>
          </Text>
          <Badge variant="light" flex="none">
            {mediumName(offer.media)}
          </Badge>
          <Text size="sm" c="dimmed" truncate title={how}>
            <bdi>{how}</bdi>
          </Text>
        </Group>
        {offer.message === null || offer.message === '' ? null : (
          <Text size="sm" className="user-text" lineClamp={2} title={offer.message}>
            {offer.message}
          </Text>
        )}
      </div>
      <Group gap="xs" wrap="nowrap" className={classes['left'] ?? ''}>
        <Progress
          value={(100 * leftSec * 1_000) / Math.max(1, offer.until - offer.createdAt)}
          flex={1}
          size="sm"
          color={leftSec <= 5 ? 'red' : 'blue'}
          aria-label={texts.timeLeftToAnswer}
        />
        <Text size="sm" className="tabular" miw={40} ta="end">
          {texts.secondsLeft(leftSec)}
        </Text>
      </Group>
    </article>
  );
}

/** Accepting a call starts the devices that the label implies. */
function acceptLabel({ media }: Offer): string {
  if (media === 'video') return texts.acceptVideoCall;
  return media === 'audio' ? texts.acceptCall : texts.accept;
}

function Hint({ keys }: { readonly keys: string }): ReactElement {
  return (
    <Kbd size="xs" aria-hidden visibleFrom="xs">
      {keys}
    </Kbd>
  );
}

/**
 * Accepting opens the conversation, and joins its call if it is one. Over a form with unsaved changes the question comes first: after
 * the answer, the visitor would have nobody if the operator stayed on the form. The feed removes the offer from the list.
 */
function useAnswer(): { answer: (offer: Offer, how: Answer) => Promise<void>; answering: string | null } {
  const { api } = useSession();
  const [, go] = useLocation();
  const [answering, setAnswering] = useState<string | null>(null);
  const answer = async (offer: Offer, action: Answer): Promise<void> => {
    const { kind, id } = offer;
    if (answering === id || (action === 'accept' && !confirmLeave())) return;
    setAnswering(id);
    const request = { path: { request_id: id }, body: { action } };
    try {
      const answered =
        kind === 'transfer'
          ? await api.call('PATCH /transfer_requests/{request_id}', request)
          : await api.call('PATCH /engagement_requests/{request_id}', request);
      if (action !== 'accept' || answered.engagement_id === null) return;
      const media = callMediaOf(offer);
      if (media !== null) callConsents.record(answered.engagement_id, 'accepted', media);
      discardUnsavedChanges();
      go(`/desk/${answered.engagement_id}`);
    } catch (error) {
      notifications.show({ color: 'red', title: texts.couldNotAnswerOffer, message: describeError(error) });
    } finally {
      setAnswering(null);
    }
  };
  return { answer, answering };
}

/** Measures the height, which changes with the offers and the width of the window. */
function useHeight(onHeight: (pixels: number) => void): RefCallback<HTMLElement> {
  return useCallback(
    (element: HTMLElement) => {
      const observer = new ResizeObserver(([entry]) => onHeight(entry?.borderBoxSize[0]?.blockSize ?? 0));
      observer.observe(element);
      return () => {
        observer.disconnect();
        onHeight(0);
      };
    },
    [onHeight],
  );
}

function useRinging(isWaiting: boolean): void {
  const [isOn] = useSound();
  useEffect(() => {
    if (!isWaiting || !isOn) return undefined;
    play('offer');
    const timer = setInterval(() => play('offer'), ringMs);
    return () => clearInterval(timer);
  }, [isWaiting, isOn]);
}

/** By the position of the key: with Alt, some keyboards write other letters. */
function useAnswerKeys(answer: (how: Answer) => void): void {
  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
    if (!event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const how = ({ KeyA: 'accept', KeyD: 'decline' } as const)[event.code];
    if (how === undefined) return;
    event.preventDefault();
    if (!event.repeat) answer(how);
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent): void => onKeyDown(event);
    addEventListener('keydown', listener);
    return () => removeEventListener('keydown', listener);
  }, []);
}
