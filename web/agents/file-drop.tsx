/** A screen on which canvas files can be dropped. */
import { type DragEvent, type ReactNode, useState } from 'react';
import { defineTexts, useTexts } from '../shell/texts.js';
import style from './file-drop.module.css';
import { type ImportFile, readFiles } from './import-file.js';

const texts = defineTexts({
  en: { drop: 'Drop canvas files to import them' },
  zh: { drop: '松开鼠标以导入画布文件' },
});

interface FileDropProps {
  readonly onFiles: (files: readonly ImportFile[]) => void;
  readonly children: ReactNode;
}

export function FileDrop({ onFiles, children }: FileDropProps) {
  const words = useTexts(texts);
  const [isOver, setIsOver] = useState(false);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setIsOver(false);
    void readFiles(event.dataTransfer.files).then((files) => files.length > 0 && onFiles(files));
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button "Import" does the same for the keyboard
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
      {children}
      {isOver && <p className={style.veil}>{words.drop}</p>}
    </div>
  );
}
