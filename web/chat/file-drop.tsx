/** A field for files: chosen or dropped, with their progress. */
import { X } from 'lucide-react';
import { type DragEvent, useRef, useState } from 'react';
import { IconButton } from '../parts/button.js';
import { UnderwayItems } from '../parts/underway-list.js';
import { useUploads } from '../parts/use-uploads.js';
import { agentPath } from '../run/paths.js';
import type { UploadedFile } from '../run/start-turn.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import style from './form.module.css';

const texts = defineTexts({
  en: { remove: (name: string) => `Remove ${name}` },
  zh: { remove: (name: string) => `移除 ${name}` },
});

export interface FileDropProps {
  readonly id: string;
  readonly agent: string;
  readonly files: readonly UploadedFile[];
  readonly onChange: (files: readonly UploadedFile[]) => void;
}

export function FileDrop({ id, agent, files, onChange }: FileDropProps) {
  const present = useRef(files);
  present.current = files;
  const uploads = useUploads<UploadedFile>(`${agentPath(agent)}/upload`, (file) =>
    onChange([...present.current, file]),
  );
  const [isOver, setIsOver] = useState(false);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setIsOver(false);
    uploads.add(event.dataTransfer.files);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is a way beside the field, which all can use
    <div
      className={`${style.drop} ${isOver ? style.over : ''}`}
      onDragOver={(event) => {
        event.preventDefault();
        setIsOver(true);
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={drop}
    >
      <input
        id={id}
        type="file"
        multiple
        onChange={({ target }) => {
          uploads.add([...(target.files ?? [])]);
          target.value = '';
        }}
      />
      <FileList files={files} uploads={uploads} onChange={onChange} />
    </div>
  );
}

export interface FileListProps {
  readonly files: readonly UploadedFile[];
  readonly uploads: ReturnType<typeof useUploads>;
  readonly onChange: (files: readonly UploadedFile[]) => void;
}

/** Files that arrived, and those on their way. */
export function FileList({ files, uploads, onChange }: FileListProps) {
  const words = useTexts(texts);
  if (files.length + uploads.underway.length === 0) return null;
  return (
    <ul className={style.files}>
      {files.map((file) => (
        <li key={file.id}>
          <span>{file.name}</span>
          <IconButton label={words.remove(file.name)} onClick={() => onChange(files.filter((one) => one !== file))}>
            <X size={14} aria-hidden="true" />
          </IconButton>
        </li>
      ))}
      <UnderwayItems {...uploads} />
    </ul>
  );
}
