/** An area on which files are dropped into a dataset, and the files on their way. */
import { type DragEvent, type ReactNode, useRef, useState } from 'react';
import { UnderwayItems } from '../parts/underway-list.js';
import { useUploads } from '../parts/use-uploads.js';
import { useTexts } from '../shell/texts.js';
import { type DocumentItem, datasetPath } from './dataset-data.js';
import { documentsTexts } from './documents-texts.js';
import style from './files-drop.module.css';

interface FilesDropProps {
  readonly dataset: string;
  /** Called with the documents that a file became. */
  readonly onArrival: (documents: readonly DocumentItem[]) => void;
  /** What stands in the area; it is given what opens the choice of files. */
  readonly children: (choose: () => void) => ReactNode;
}

export function FilesDrop({ dataset, onArrival, children }: FilesDropProps) {
  const words = useTexts(documentsTexts);
  const uploads = useUploads<readonly DocumentItem[]>(`${datasetPath(dataset)}/documents`, onArrival);
  const picker = useRef<HTMLInputElement>(null);
  const [isOver, setIsOver] = useState(false);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setIsOver(false);
    uploads.add(event.dataTransfer.files);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button "Add files" does the same for the keyboard
    <div
      className={style.area}
      onDragOver={(event) => {
        if (!event.dataTransfer.types.includes('Files')) return;
        event.preventDefault();
        setIsOver(true);
      }}
      onDragLeave={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setIsOver(false);
      }}
      onDrop={drop}
    >
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        aria-label={words.upload}
        onChange={({ target }) => {
          uploads.add([...(target.files ?? [])]);
          target.value = '';
        }}
      />
      {children(() => picker.current?.click())}
      {uploads.underway.length > 0 && (
        <ul className={style.underway} aria-label={words.uploads}>
          <UnderwayItems {...uploads} />
        </ul>
      )}
      {isOver && <p className={style.veil}>{words.drop}</p>}
    </div>
  );
}
