import { useState } from 'preact/hooks';

interface DropTarget {
  /** Whether files are being dragged over it. */
  readonly isOver: boolean;
  readonly onDragOver: (event: DragEvent) => void;
  readonly onDragLeave: (event: DragEvent) => void;
  readonly onDrop: (event: DragEvent) => void;
}

/** Files may be dropped on the element. `drop` is `null` while none are taken: the browser must not open them in place of the page. */
export function useDropTarget(drop: ((files: FileList) => void) | null): DropTarget {
  const [isOver, setIsOver] = useState(false);
  return {
    isOver,
    onDragOver: (event) => {
      const { dataTransfer: dragged } = event;
      if (dragged?.types.includes('Files') !== true) return;
      event.preventDefault();
      if (drop === null) dragged.dropEffect = 'none';
      setIsOver(drop !== null);
    },
    onDragLeave: ({ currentTarget, relatedTarget }) => {
      // Also told when the pointer goes from one element inside to another.
      const isInside =
        relatedTarget instanceof Node && (currentTarget as Node | null)?.contains(relatedTarget) === true;
      if (!isInside) setIsOver(false);
    },
    onDrop: (event) => {
      const files = event.dataTransfer?.files;
      if (files === undefined || files.length === 0) return;
      event.preventDefault();
      setIsOver(false);
      drop?.(files);
    },
  };
}
