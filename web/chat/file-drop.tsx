/** A field for files: chosen or dropped, with their progress. */
import { X } from 'lucide-react';
import { type DragEvent, useRef, useState } from 'react';
import { IconButton } from '../parts/button.js';
import type { UploadedFile } from '../run/start-turn.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import style from './form.module.css';
import { useUploads } from './use-uploads.js';

const texts = defineTexts({
  en: {
    remove: (name: string) => `Remove ${name}`,
    uploading: (name: string) => `Uploading ${name}`,
    failed: 'failed',
  },
  zh: { remove: (name: string) => `移除 ${name}`, uploading: (name: string) => `正在上传 ${name}`, failed: '失败' },
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
  const uploads = useUploads(agent, (file) => onChange([...present.current, file]));
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
      {uploads.underway.map(({ key, name, share, error }) => (
        <li key={key}>
          <span>{name}</span>
          {error === undefined ? (
            <progress value={share} aria-label={words.uploading(name)} />
          ) : (
            <span role="alert" className={style.problem}>
              {words.failed}: {error instanceof Error ? error.message : String(error)}
            </span>
          )}
          <IconButton label={words.remove(name)} onClick={() => uploads.drop(key)}>
            <X size={14} aria-hidden="true" />
          </IconButton>
        </li>
      ))}
    </ul>
  );
}
