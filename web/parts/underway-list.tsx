/** Files on their way to the server, each as an entry of a list: its progress, or why it was not taken. */
import { X } from 'lucide-react';
import { defineTexts, useTexts } from '../shell/texts.js';
import { IconButton } from './button.js';
import style from './underway-list.module.css';
import type { Uploads } from './use-uploads.js';

const texts = defineTexts({
  en: {
    remove: (name: string) => `Remove ${name}`,
    uploading: (name: string) => `Uploading ${name}`,
    failed: 'failed',
  },
  zh: { remove: (name: string) => `移除 ${name}`, uploading: (name: string) => `正在上传 ${name}`, failed: '失败' },
});

export function UnderwayItems({ underway, drop }: Pick<Uploads, 'underway' | 'drop'>) {
  const words = useTexts(texts);
  return underway.map(({ key, name, share, error }) => (
    <li key={key} className={style.item}>
      <span className={style.name}>{name}</span>
      {error === undefined ? (
        <progress value={share} aria-label={words.uploading(name)} />
      ) : (
        <span role="alert" className={style.problem}>
          {words.failed}: {error instanceof Error ? error.message : String(error)}
        </span>
      )}
      <IconButton label={words.remove(name)} onClick={() => drop(key)}>
        <X size={14} aria-hidden="true" />
      </IconButton>
    </li>
  ));
}
