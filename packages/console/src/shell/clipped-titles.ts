/** Texts lie this many elements deep in the one that cuts them off, at most. */
const mostLevels = 3;

/**
 * Gives every text that is cut off its whole self as a title when the pointer comes to it, on whichever page. What is cut off
 * depends on the width of the window, so that it is looked at only then. Elements with a title of their own keep it.
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
  for (let next = element.parentElement; next !== null && found.length <= mostLevels; next = next.parentElement)
    found.push(next);
  return found;
}

function isClipping(element: HTMLElement): boolean {
  const { textOverflow, webkitLineClamp } = getComputedStyle(element);
  if (textOverflow !== 'ellipsis' && webkitLineClamp === 'none') return false;
  return element.scrollWidth > element.clientWidth || element.scrollHeight > element.clientHeight;
}
