/** Which runs are listed: agent, state, version, user, when they began and how long they took. They stand in the address. */
import { Button } from '../parts/button.js';
import { ChoiceFilter, Filters, TypedFilter } from '../parts/filter-fields.js';
import { useTexts } from '../shell/texts.js';
import { useVersions } from '../versions/version-data.js';
import { AgentChoice, StatusChoice } from './filter-choices.js';
import { isNarrowed, NO_FILTER, PERIODS, type Period, type RunFilter } from './run-list.js';
import { runsTexts } from './runs-texts.js';

export interface RunFiltersProps {
  readonly filter: RunFilter;
  readonly onChange: (change: Readonly<Record<string, string | undefined>>) => void;
}

export function RunFilters({ filter, onChange }: RunFiltersProps) {
  const words = useTexts(runsTexts);
  const { status, user } = filter;
  return (
    <Filters>
      <AgentFilters filter={filter} onChange={onChange} />
      <StatusChoice label={words.status} value={status} onChange={(value) => onChange({ status: value })} />
      <TypedFilter type="search" label={words.user} value={user} onChange={(value) => onChange({ user: value })} />
      <TimeFilters filter={filter} onChange={onChange} />
      {isNarrowed(filter) && (
        <Button look="quiet" onClick={() => onChange(NO_FILTER)}>
          {words.reset}
        </Button>
      )}
    </Filters>
  );
}

/** The agent, and the version of its document; without an agent there are no versions to choose from but the two that all have. */
function AgentFilters({ filter: { agent = '', version = '' }, onChange }: RunFiltersProps) {
  const words = useTexts(runsTexts);
  const { data: versions = [] } = useVersions(agent);
  const all: readonly (readonly [id: string, name: string])[] = [
    ...Object.entries(words.versions),
    ...versions.map(({ id, title }) => [id, title || id.slice(0, 8)] as const),
  ];
  return (
    <>
      <AgentChoice value={agent} onChange={(value) => onChange({ agent: value, version: undefined })} />
      <ChoiceFilter label={words.version} value={version} onChange={(value) => onChange({ version: value })}>
        <option value="">{words.all}</option>
        {version !== '' && !all.some(([id]) => id === version) && <option value={version}>{version}</option>}
        {all.map(([id, name]) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </ChoiceFilter>
    </>
  );
}

/** A period up to now, or days; and the length. */
function TimeFilters({ filter: { period, from, to, min, max }, onChange }: RunFiltersProps) {
  const words = useTexts(runsTexts);
  return (
    <>
      <ChoiceFilter
        label={words.period}
        value={period}
        onChange={(value) => onChange({ period: value, from: undefined, to: undefined })}
      >
        <option value="">{words.always}</option>
        {(Object.keys(PERIODS) as Period[]).map((one) => (
          <option key={one} value={one}>
            {words.periods[one]}
          </option>
        ))}
      </ChoiceFilter>
      <TypedFilter
        type="date"
        label={words.from}
        value={from}
        onChange={(value) => onChange({ from: value, period: undefined })}
      />
      <TypedFilter
        type="date"
        label={words.to}
        value={to}
        onChange={(value) => onChange({ to: value, period: undefined })}
      />
      <TypedFilter type="number" label={words.min} value={min} onChange={(value) => onChange({ min: value })} />
      <TypedFilter type="number" label={words.max} value={max} onChange={(value) => onChange({ max: value })} />
    </>
  );
}
