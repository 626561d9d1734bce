import { useEffect, useState } from 'preact/hooks';
import { announcementsOf, type AnnouncedState } from '../chat/announcements.ts';
import type { State } from '../state.ts';
import type { Store } from '../store.ts';

/** Older announcements have been read out and are removed. */
const maxAnnouncements = 5;

interface Announcement {
  readonly id: number;
  readonly text: string;
}

/**
 * Announces to screen readers what the panel cannot: while it is closed, and when its content changes. The live region exists from the
 * start, because screen readers skip a region that appears together with its text. Each announcement is its own element, so that the
 * next one does not interrupt it. Opening the panel removes them, because the panel shows the same.
 */
export function Announcer({ store }: { readonly store: Store<State> }) {
  const [announcements, setAnnouncements] = useState<readonly Announcement[]>([]);
  useEffect(() => {
    let before = store.value;
    let lastId = 0;
    return store.subscribe(() => {
      const more = announcementsOf(announcedStateOf(before), announcedStateOf(store.value)).map((text) => ({
        id: (lastId += 1),
        text,
      }));
      if (store.value.isPanelOpen && !before.isPanelOpen) setAnnouncements([]);
      before = store.value;
      if (more.length > 0) setAnnouncements((earlier) => [...earlier, ...more].slice(-maxAnnouncements));
    });
  }, [store]);
  return (
    <div class="visually-hidden" aria-live="polite" aria-relevant="additions">
      {announcements.map(({ id, text }) => (
        <p key={id}>{text}</p>
      ))}
    </div>
  );
}

function announcedStateOf({ stage, messages, isPanelOpen }: State): AnnouncedState {
  return { phase: stage.name, messages, upgrade: stage.name === 'engaged' ? stage.upgrade : null, isPanelOpen };
}
