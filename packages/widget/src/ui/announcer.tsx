import { useEffect, useState } from 'preact/hooks';
import { announcementsOf } from '../announcements.ts';
import type { State } from '../state.ts';
import type { Store } from '../store.ts';

/** Older ones have been read out. */
const most = 5;

interface Announcement {
  readonly id: number;
  readonly text: string;
}

/**
 * Tells screen readers what the panel cannot: while it is closed, and when it changes altogether. The region is there from the
 * beginning, because one that appears together with its text is not read out. Each announcement is an element of its own, so
 * that the next one does not cut it off; an open panel shows what was announced, so they go.
 */
export function Announcer({ store }: { readonly store: Store<State> }) {
  const [said, setSaid] = useState<readonly Announcement[]>([]);
  useEffect(() => {
    let before = store.value;
    let lastId = 0;
    return store.subscribe(() => {
      const more = announcementsOf(heardIn(before), heardIn(store.value)).map((text) => ({ id: (lastId += 1), text }));
      if (store.value.isPanelOpen && !before.isPanelOpen) setSaid([]);
      before = store.value;
      if (more.length > 0) setSaid((known) => [...known, ...more].slice(-most));
    });
  }, [store]);
  return (
    <div class="unseen" aria-live="polite" aria-relevant="additions">
      {said.map(({ id, text }) => (
        <p key={id}>{text}</p>
      ))}
    </div>
  );
}

function heardIn({ stage, messages, isPanelOpen }: State): Parameters<typeof announcementsOf>[0] {
  return { phase: stage.name, messages, upgrade: stage.name === 'engaged' ? stage.upgrade : null, isPanelOpen };
}
