import { useState } from 'preact/hooks';

interface DropTarget {
  /** Whether files are being dragged over the element. */
  readonly isDraggedOver: boolean;
  readonly onDragOver: (event: DragEvent) => void;
  readonly onDragLeave: (event: DragEvent) => void;
  readonly onDrop: (event: DragEvent) => void;
}

/** Lets files be dropped on the element. While `onFiles` is `null`, a drop does nothing; by default the browser would open the file. */
export function useDropTarget(onFiles: ((files: FileList) => void) | null): DropTarget {
  const [isDraggedOver, setIsDraggedOver] = useState(false);
  return {
    isDraggedOver,
    onDragOver: (event) => {
      const { dataTransfer } = event;
      if (dataTransfer?.types.includes('Files') !== true) return;
      event.preventDefault();
      if (onFiles === null) dataTransfer.dropEffect = 'none';
      setIsDraggedOver(onFiles !== null);
    },
    onDragLeave: ({ currentTarget, relatedTarget }) => {
      // The event also fires when the pointer moves between elements inside.
      const isInside =
        relatedTarget instanceof Node && (currentTarget as Node | null)?.contains(relatedTarget) === true;
      if (!isInside) setIsDraggedOver(false);
    },
    onDrop: (event) => {
      const files = event.dataTransfer?.files;
      if (files === undefined || files.length === 0) return;
      event.preventDefault();
      setIsDraggedOver(false);
      onFiles?.(files);
    },
  };
}
