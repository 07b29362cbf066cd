/** Versions, newest first; the newest is what programs run. */

import { useChoices } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import type { VersionItem } from './version-data.js';
import style from './versions.module.css';
import { versionsTexts } from './versions-texts.js';

interface VersionListProps {
  readonly versions: readonly VersionItem[];
  readonly chosen: string;
  readonly onChoose: (id: string) => void;
}

export function VersionList({ versions, chosen, onChoose }: VersionListProps) {
  const words = useTexts(versionsTexts);
  const { language } = useChoices();
  return (
    <nav aria-label={words.list} className={style.list}>
      <ul>
        {versions.map(({ id, title, create_time: time }, at) => (
          <li key={id}>
            <button type="button" aria-current={id === chosen} onClick={() => onChoose(id)}>
              <span className={style.name}>{title}</span>
              <time dateTime={new Date(time).toISOString()}>
                {new Date(time).toLocaleString(language, { dateStyle: 'medium', timeStyle: 'short' })}
              </time>
              {at === 0 && <span className={style.inUse}>{words.published}</span>}
            </button>
          </li>
        ))}
      </ul>
    </nav>
  );
}
