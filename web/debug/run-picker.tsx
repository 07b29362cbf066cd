/** Chooses one of the newest runs of an agent. */
import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { agentPath } from '../run/paths.js';
import type { RunItem } from '../run/start-turn.js';
import { useChoices, useClient } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import { statusTexts } from '../trace/statuses.js';
import style from './compare.module.css';
import { compareTexts } from './compare-texts.js';

export interface RunPickerProps {
  readonly label: string;
  readonly agent: string;
  readonly run: string;
  readonly onChoose: (run: string) => void;
}

const LISTED = 50;

export function RunPicker({ label, agent, run, onChoose }: RunPickerProps) {
  const words = useTexts(compareTexts);
  const states = useTexts(statusTexts);
  const { language } = useChoices();
  const field = useId();
  const client = useClient();
  const { data = [] } = useQuery({
    queryKey: ['runs-of', agent],
    queryFn: ({ signal }) =>
      client.call<readonly RunItem[]>(`${agentPath(agent)}/runs`, { query: { page_size: LISTED }, signal }),
  });
  const time = new Intl.DateTimeFormat(language, { dateStyle: 'short', timeStyle: 'medium' });
  return (
    <span className={style.picker}>
      <label htmlFor={field}>{label}</label>
      <select id={field} value={run} onChange={(event) => onChoose(event.target.value)}>
        {run === '' && <option value="">{words.none}</option>}
        {run !== '' && !data.some(({ id }) => id === run) && <option value={run}>{run}</option>}
        {data.map(({ id, status, started_at: startedAt }) => (
          <option key={id} value={id}>
            {time.format(startedAt)} · {states[status]} · {id.slice(0, 6)}
          </option>
        ))}
      </select>
    </span>
  );
}
