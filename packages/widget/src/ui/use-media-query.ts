import { useEffect, useState } from 'preact/hooks';

export function useMediaQuery(query: string): boolean {
  const [isTrue, setIsTrue] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const look = (): void => setIsTrue(list.matches);
    look();
    list.addEventListener('change', look);
    return () => list.removeEventListener('change', look);
  }, [query]);
  return isTrue;
}
