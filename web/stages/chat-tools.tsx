/** Whom a question goes to: assistant, datasets, and what answers may rest on. All of it stands in the address. */
import { Database } from 'lucide-react';
import { type ReactNode, useId } from 'react';
import { DatasetChecks, type DatasetChecksProps } from '../datasets/dataset-checks.js';
import { useDatasets } from '../datasets/dataset-data.js';
import { useTexts } from '../shell/texts.js';
import { type ChatItem, type ChatSettings, MODES } from './chat-server.js';
import style from './stages.module.css';
import { stagesTexts } from './stages-texts.js';

export interface ChatToolsProps {
  /** Leads to other conversations. */
  readonly menu: ReactNode;
  readonly settings: ChatSettings;
  readonly chats: readonly ChatItem[];
  /** Whether the conversation has begun: it has its assistant. */
  readonly hasBegun: boolean;
  readonly onChange: (change: Readonly<Record<'chat' | 'datasets' | 'mode', string | undefined>>) => void;
}

export function ChatTools({ menu, settings, chats, hasBegun, onChange }: ChatToolsProps) {
  const words = useTexts(stagesTexts);
  const field = useId();
  const { chat, datasets, mode } = settings;
  const before = { chat, datasets: datasets.join(',') || undefined, mode };
  return (
    <div className={style.tools}>
      {menu}
      <label htmlFor={`${field}c`}>{words.chat}</label>
      <select
        id={`${field}c`}
        value={chat ?? ''}
        disabled={hasBegun}
        onChange={({ target }) => onChange({ ...before, chat: target.value || undefined })}
      >
        <option value="">{words.all}</option>
        {chats.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      <DatasetChoice
        chosen={datasets}
        onChange={(ids) => onChange({ ...before, datasets: ids.join(',') || undefined })}
      />
      <label htmlFor={`${field}m`}>{words.mode}</label>
      <select
        id={`${field}m`}
        value={mode ?? ''}
        onChange={({ target }) => onChange({ ...before, mode: target.value || undefined })}
      >
        <option value="">{words.anyMode}</option>
        {MODES.map((one) => (
          <option key={one} value={one}>
            {words.modes[one]}
          </option>
        ))}
      </select>
    </div>
  );
}

function DatasetChoice({ chosen, onChange }: Omit<DatasetChecksProps, 'datasets'>) {
  const words = useTexts(stagesTexts);
  const { data } = useDatasets('');
  const datasets = data?.pages.flat() ?? [];
  return (
    <details className={style.datasets}>
      <summary>
        <Database size={14} aria-hidden="true" /> {words.datasets}:{' '}
        {chosen.length === 0 ? words.allDatasets : words.some(chosen.length)}
      </summary>
      <div className={style.choices}>
        {datasets.length === 0 && <p>{words.noDatasets}</p>}
        <DatasetChecks datasets={datasets} chosen={chosen} onChange={onChange} />
      </div>
    </details>
  );
}
