/** A text is at most this many elements below the one that clips it. */
const maxDepth = 3;

/**
 * Gives clipped texts a title with the full text when the pointer enters them. Clipping depends on the width of the window, so it
 * is checked only then. Elements with a title keep it.
 */
export function titleClippedTexts(root: HTMLElement): void {
  root.addEventListener('pointerover', ({ target }) => {
    if (!(target instanceof HTMLElement)) return;
    const clipping = ancestorsOf(target).find(isClipping);
    if (clipping === undefined) return;
    const isOurs = clipping.dataset['clipped'] !== undefined;
    if (clipping.closest('[title]') !== null && !isOurs) return;
    clipping.title = clipping.textContent;
    clipping.dataset['clipped'] = '';
  });
}

function ancestorsOf(element: HTMLElement): HTMLElement[] {
  const found = [element];
  for (let next = element.parentElement; next !== null && found.length <= maxDepth; next = next.parentElement)
    found.push(next);
  return found;
}

function isClipping(element: HTMLElement): boolean {
  const { textOverflow, webkitLineClamp } = getComputedStyle(element);
  if (textOverflow !== 'ellipsis' && webkitLineClamp === 'none') return false;
  return element.scrollWidth > element.clientWidth || element.scrollHeight > element.clientHeight;
}
