/** Fields that lists of runs, sessions and questions have in common. */
import { ChoiceFilter } from '../parts/filter-fields.js';
import { useAgentNames } from '../run/agent-names.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import { statusTexts } from '../trace/statuses.js';
import { STATUSES, type Status } from './run-list.js';

const texts = defineTexts({
  en: { agent: 'Agent', all: 'all' },
  zh: { agent: '智能体', all: '全部' },
});

export interface ChosenProps {
  /** Undefined: any. */
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
}

export function AgentChoice({ value = '', onChange }: ChosenProps) {
  const words = useTexts(texts);
  const agents = useAgentNames();
  return (
    <ChoiceFilter label={words.agent} value={value} onChange={onChange}>
      <option value="">{words.all}</option>
      {value !== '' && !agents.some(({ id }) => id === value) && <option value={value}>{value}</option>}
      {agents.map(({ id, title }) => (
        <option key={id} value={id}>
          {title}
        </option>
      ))}
    </ChoiceFilter>
  );
}

/** @param label such as "State": that of a run, or of what it stands for */
export function StatusChoice({
  label,
  value,
  onChange,
}: ChosenProps & { readonly label: string; readonly value: Status | undefined }) {
  const words = useTexts(texts);
  const states = useTexts(statusTexts);
  return (
    <ChoiceFilter label={label} value={value} onChange={onChange}>
      <option value="">{words.all}</option>
      {STATUSES.map((one) => (
        <option key={one} value={one}>
          {states[one]}
        </option>
      ))}
    </ChoiceFilter>
  );
}
