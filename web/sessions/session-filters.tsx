/** Which sessions are listed: words, agent, how their last runs stand, user, when they were made. They stand in the address. */
import { Button } from '../parts/button.js';
import { Filters, TypedFilter } from '../parts/filter-fields.js';
import { AgentChoice, StatusChoice } from '../runs/filter-choices.js';
import { useTexts } from '../shell/texts.js';
import { isNarrowed, NO_FILTER, type SessionFilter } from './session-list.js';
import { sessionsTexts } from './sessions-texts.js';

export interface SessionFiltersProps {
  readonly filter: SessionFilter;
  readonly onChange: (change: Readonly<Record<string, string | undefined>>) => void;
}

export function SessionFilters({ filter, onChange }: SessionFiltersProps) {
  const words = useTexts(sessionsTexts);
  const { search, agent, status, user, from, to } = filter;
  return (
    <Filters>
      <TypedFilter
        type="search"
        label={words.search}
        value={search}
        onChange={(value) => onChange({ search: value })}
      />
      <AgentChoice value={agent} onChange={(value) => onChange({ agent: value })} />
      <StatusChoice label={words.lastRun} value={status} onChange={(value) => onChange({ status: value })} />
      <TypedFilter type="search" label={words.user} value={user} onChange={(value) => onChange({ user: value })} />
      <TypedFilter type="date" label={words.from} value={from} onChange={(value) => onChange({ from: value })} />
      <TypedFilter type="date" label={words.to} value={to} onChange={(value) => onChange({ to: value })} />
      {isNarrowed(filter) && (
        <Button look="quiet" onClick={() => onChange(NO_FILTER)}>
          {words.reset}
        </Button>
      )}
    </Filters>
  );
}
