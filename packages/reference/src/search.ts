import { wordsOf } from './words.ts';

interface Entry {
  readonly article: HTMLElement;
  readonly text: string;
  /** Its links in the navigation. */
  readonly links: readonly HTMLElement[];
}

/** Shows the search field, which the page has hidden, and filters operations, events and schemas by its words. */
export function addSearch(): void {
  const form = document.querySelector<HTMLElement>('#search');
  const field = form?.querySelector('input');
  const count = form?.querySelector('output');
  if (!form || !field || !count) return;
  let entries: readonly Entry[] | null = null;
  const search = (): void => {
    entries ??= readEntries();
    const words = wordsOf(field.value);
    let shown = 0;
    for (const { article, text, links } of entries) {
      const isShown = words.every((word) => text.includes(word));
      if (isShown) shown += 1;
      article.hidden = !isShown;
      for (const link of links) link.hidden = !isShown;
    }
    hideEmptyGroups();
    count.textContent = words.length === 0 ? '' : `${shown} of ${entries.length}`;
  };
  field.addEventListener('input', search);
  form.hidden = false;
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof HTMLElement && event.target.matches('input, textarea');
    if (event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      field.focus();
    }
    if (event.key === 'Escape' && event.target === field) {
      field.value = '';
      search();
    }
  });
  // A link to something hidden shows it.
  window.addEventListener('hashchange', () => {
    const target = document.querySelector<HTMLElement>(`[id="${CSS.escape(location.hash.slice(1))}"]`);
    if (target?.closest('[hidden]') === null || target === null) return;
    field.value = '';
    search();
    target.scrollIntoView();
  });
}

function readEntries(): Entry[] {
  const links = Map.groupBy(document.querySelectorAll<HTMLElement>('nav li'), (item) =>
    (item.querySelector('a')?.hash ?? '').slice(1),
  );
  return [...document.querySelectorAll<HTMLElement>('main article')].map((article) => ({
    article,
    text: (article.textContent ?? '').toLowerCase(),
    links: links.get(article.id) ?? [],
  }));
}

function hideEmptyGroups(): void {
  for (const section of document.querySelectorAll<HTMLElement>('main section')) {
    const articles = [...section.querySelectorAll<HTMLElement>('article')];
    section.hidden = articles.length > 0 && articles.every(({ hidden }) => hidden);
  }
  for (const list of document.querySelectorAll<HTMLElement>('nav ul')) {
    const isEmpty = [...list.querySelectorAll<HTMLElement>('li')].every(({ hidden }) => hidden);
    list.hidden = isEmpty;
    if (list.previousElementSibling instanceof HTMLElement) list.previousElementSibling.hidden = isEmpty;
  }
}
