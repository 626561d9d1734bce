import { useEffect, useState } from 'preact/hooks';
import type { Store } from '../../store.ts';

/** The current value of a store. Renders again with every change. */
export function useStore<T extends object>(store: Store<T>): T {
  const [value, setValue] = useState(store.value);
  useEffect(() => {
    setValue(store.value);
    return store.subscribe(() => setValue(store.value));
  }, [store]);
  return value;
}
