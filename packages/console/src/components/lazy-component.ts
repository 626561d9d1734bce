import { lazy, type ComponentType } from 'react';
import { texts } from './texts.ts';

/** A chunk could not be loaded: the server was unreachable, or is a newer version whose chunks have other names. */
export class ChunkNotLoaded extends Error {
  constructor(cause: unknown) {
    super(texts.pageNotLoaded, { cause });
    this.name = 'ChunkNotLoaded';
  }
}

/**
 * A component that is loaded when it is first shown. Browsers cache a failed module, so a failure can only be repaired by
 * reloading the page.
 */
export function lazyComponent<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  return lazy(async () => {
    try {
      return { default: await load() };
    } catch (error) {
      throw new ChunkNotLoaded(error);
    }
  });
}
