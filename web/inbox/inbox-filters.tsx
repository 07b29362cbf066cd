/** Which of what waits is listed: agent, what it asks for, user, how long it waits. They stand in the address. */
import { Button } from '../parts/button.js';
import { ChoiceFilter, Filters, TypedFilter } from '../parts/filter-fields.js';
import { AgentChoice } from '../runs/filter-choices.js';
import { useTexts } from '../shell/texts.js';
import { AGES, type Age, type InboxFilter, isNarrowed, KINDS, NO_FILTER } from './inbox.js';
import { inboxTexts } from './inbox-texts.js';

export interface InboxFiltersProps {
  readonly filter: InboxFilter;
  readonly onChange: (change: Readonly<Record<string, string | undefined>>) => void;
}

export function InboxFilters({ filter, onChange }: InboxFiltersProps) {
  const words = useTexts(inboxTexts);
  const { agent, kind, user, age } = filter;
  return (
    <Filters>
      <AgentChoice value={agent} onChange={(value) => onChange({ agent: value })} />
      <ChoiceFilter label={words.kind} value={kind} onChange={(value) => onChange({ kind: value })}>
        <option value="">{words.all}</option>
        {KINDS.map((one) => (
          <option key={one} value={one}>
            {words.kinds[one]}
          </option>
        ))}
      </ChoiceFilter>
      <TypedFilter type="search" label={words.user} value={user} onChange={(value) => onChange({ user: value })} />
      <ChoiceFilter label={words.age} value={age} onChange={(value) => onChange({ age: value })}>
        <option value="">{words.anyTime}</option>
        {(Object.keys(AGES) as Age[]).map((one) => (
          <option key={one} value={one}>
            {words.ages[one]}
          </option>
        ))}
      </ChoiceFilter>
      {isNarrowed(filter) && (
        <Button look="quiet" onClick={() => onChange(NO_FILTER)}>
          {words.reset}
        </Button>
      )}
    </Filters>
  );
}
