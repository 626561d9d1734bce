/** React keys for lists whose elements are identified by their index. */
export function withNumbers<Element>(
  elements: readonly Element[],
): { readonly number: number; readonly index: number; readonly element: Element }[] {
  return elements.map((element, index) => ({ number: index + 1, index, element }));
}
