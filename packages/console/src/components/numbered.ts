/** For lists whose elements have no name but their place, which is what they are then known by. */
export function numbered<Element>(
  elements: readonly Element[],
): { readonly number: number; readonly index: number; readonly element: Element }[] {
  return elements.map((element, index) => ({ number: index + 1, index, element }));
}
