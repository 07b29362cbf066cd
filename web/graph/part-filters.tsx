/** Which part of a graph is drawn: the legend that filters by kind, lines, community, steps and number. All of it stands in the address. */
import type { GraphPart } from '../../src/knowledge/graph/graph-answers.js';
import { Button } from '../parts/button.js';
import { ChoiceFilter, Filters } from '../parts/filter-fields.js';
import { useTexts } from '../shell/texts.js';
import { ENTITY_KINDS, kindTexts, namedText, shortName } from './entity-kinds.js';
import { Swatch } from './entity-name.js';
import style from './graph.module.css';
import { DEPTHS, type GraphFilter, LIMITS, limitValue } from './graph-address.js';
import { graphTexts } from './graph-texts.js';

type Change = Readonly<Record<string, string | number | undefined>>;

interface PartFiltersProps {
  readonly filter: GraphFilter;
  readonly part: GraphPart;
  readonly isNearHidden: boolean;
  readonly onChange: (change: Change) => void;
}

export function PartFilters({ filter, part, isNearHidden, onChange }: PartFiltersProps) {
  const words = useTexts(graphTexts);
  const { around, depth, community, limit } = filter;
  const communities = part.communities.filter(({ level }) => level === 0);
  const isPart = around !== '' || community !== '' || filter.types.length > 0;
  return (
    <search className={style.view} aria-label={words.parts}>
      <Legend types={filter.types} part={part} onChange={onChange} />
      <fieldset className={style.legend}>
        <legend>{words.lines}</legend>
        <span className={style.line}>
          <span aria-hidden="true" className={style.saidLine} /> {words.said}
        </span>
        <span className={style.line}>
          <span aria-hidden="true" className={style.nearLine} /> {words.near}
        </span>
        <label>
          <input
            type="checkbox"
            checked={isNearHidden}
            onChange={({ target }) => onChange({ near: target.checked ? 'off' : undefined })}
          />
          {words.hideNear}
        </label>
      </fieldset>
      <Filters>
        {around !== '' && (
          <>
            <span className={style.text}>
              {words.around}: <bdi>{shortName(around)}</bdi>
            </span>
            <ChoiceFilter label={words.depth} value={String(depth)} onChange={(next) => onChange({ depth: next })}>
              {DEPTHS.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </ChoiceFilter>
          </>
        )}
        <ChoiceFilter
          label={words.community}
          value={community}
          onChange={(next) => onChange({ community: next, page: undefined })}
        >
          <option value="">{words.allCommunities}</option>
          {community !== '' && communities.every(({ id }) => id !== community) && <option>{community}</option>}
          {communities.map(({ id, size }) => (
            <option key={id} value={id}>
              {words.communityName(id, size)}
            </option>
          ))}
        </ChoiceFilter>
        <ChoiceFilter
          label={words.limit}
          value={String(limit)}
          onChange={(next) => onChange({ limit: limitValue(next), page: undefined })}
        >
          {LIMITS.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </ChoiceFilter>
        {isPart && <Button onClick={() => onChange(WHOLE)}>{words.wholeGraph}</Button>}
      </Filters>
    </search>
  );
}

const WHOLE = { around: undefined, depth: undefined, community: undefined, types: undefined, page: undefined };

interface LegendProps {
  readonly types: readonly string[];
  readonly part: GraphPart;
  readonly onChange: (change: Change) => void;
}

/** The colours of the kinds. Chosen ones are shown alone; without a choice all are. */
function Legend({ types, part, onChange }: LegendProps) {
  const words = useTexts(graphTexts);
  const names = useTexts(kindTexts);
  const own = part.nodes.map(({ type }) => type).filter((type) => !type.includes(','));
  const kinds = [...new Set([...ENTITY_KINDS, ...types, ...own])].slice(0, MAX_KINDS);
  const turn = (kind: string): void => {
    const next = types.includes(kind) ? types.filter((one) => one !== kind) : [...types, kind];
    onChange({ types: next.join(',') || undefined, page: undefined });
  };
  return (
    <fieldset className={style.legend}>
      <legend>{words.kinds}</legend>
      {kinds.map((kind) => (
        <label key={kind} className={style.text}>
          <input type="checkbox" checked={types.includes(kind)} onChange={() => turn(kind)} />
          <Swatch type={kind} />
          <bdi>{shortName(namedText(names, kind), 40)}</bdi>
        </label>
      ))}
    </fieldset>
  );
}

/** Kinds of the legend: a user's own graph may have any number of them. */
const MAX_KINDS = 40;
