/** Which runs are listed: agent, status, period. They stand in the address. */
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useId } from 'react';
import { Button } from '../parts/button.js';
import { useClient } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import { statusTexts } from '../trace/statuses.js';
import { PERIODS, type Period, type RunFilter, STATUSES } from './run-list.js';
import style from './runs.module.css';
import { runsTexts } from './runs-texts.js';

export interface RunFiltersProps {
  readonly filter: RunFilter;
  readonly onChange: (change: Readonly<Record<string, string | undefined>>) => void;
}

export function RunFilters({ filter, onChange }: RunFiltersProps) {
  const words = useTexts(runsTexts);
  const states = useTexts(statusTexts);
  const client = useClient();
  const { data } = useQuery({
    queryKey: ['agents', 'names'],
    queryFn: ({ signal }) =>
      client.call<{ canvas: readonly { readonly id: string; readonly title: string }[] }>('/agents', {
        query: { page_size: 100 },
        signal,
      }),
  });
  const agents = data?.canvas ?? [];
  const { agent = '', status = '', period = '' } = filter;
  const isUnknown = agent !== '' && !agents.some(({ id }) => id === agent);
  return (
    <search className={style.filters}>
      <Choice label={words.agent} value={agent} onChange={(value) => onChange({ agent: value })}>
        <option value="">{words.all}</option>
        {isUnknown && <option value={agent}>{agent}</option>}
        {agents.map(({ id, title }) => (
          <option key={id} value={id}>
            {title}
          </option>
        ))}
      </Choice>
      <Choice label={words.status} value={status} onChange={(value) => onChange({ status: value })}>
        <option value="">{words.all}</option>
        {STATUSES.map((one) => (
          <option key={one} value={one}>
            {states[one]}
          </option>
        ))}
      </Choice>
      <Choice label={words.period} value={period} onChange={(value) => onChange({ period: value })}>
        <option value="">{words.always}</option>
        {(Object.keys(PERIODS) as Period[]).map((one) => (
          <option key={one} value={one}>
            {words.periods[one]}
          </option>
        ))}
      </Choice>
      {(agent !== '' || status !== '' || period !== '') && (
        <Button look="quiet" onClick={() => onChange({ agent: undefined, status: undefined, period: undefined })}>
          {words.reset}
        </Button>
      )}
    </search>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string | undefined) => void;
  readonly children: ReactNode;
}

function Choice({ label, value, onChange, children }: ChoiceProps) {
  const field = useId();
  return (
    <span className={style.choice}>
      <label htmlFor={field}>{label}</label>
      <select id={field} value={value} onChange={(event) => onChange(event.target.value || undefined)}>
        {children}
      </select>
    </span>
  );
}
