/** A graph that there is: its part as a drawing and as a list, a chosen entity, questions, names that are one, builds. */

import { useCallback, useMemo, useState } from 'react';
import type { GraphPart } from '../../src/knowledge/graph/graph-answers.js';
import { changeQuery, useQueryValues } from '../parts/location.js';
import { EmptyNote } from '../parts/notes.js';
import { useChoices } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import { BuildPanel } from './build-panel.js';
import { DrawingPlace } from './drawing-place.js';
import { drawnPart } from './drawn-part.js';
import { EntityPanel } from './entity-panel.js';
import { EntityTable } from './entity-table.js';
import { shownWay } from './found-lists.js';
import { FreshNotice } from './fresh-notice.js';
import style from './graph.module.css';
import { type GraphFilter, isAsked, readQuestion, wholeOf } from './graph-address.js';
import { useGraphSearch } from './graph-questions.js';
import { graphTexts } from './graph-texts.js';
import { MergePanel } from './merge-panel.js';
import { PartFilters } from './part-filters.js';
import { QuestionPanel } from './question-panel.js';

interface GraphViewProps {
  readonly dataset: string;
  readonly part: GraphPart;
  readonly filter: GraphFilter;
}

export function GraphView({ dataset, part, filter }: GraphViewProps) {
  const [query, change] = useQueryValues();
  const [picked, setPicked] = useState<readonly string[]>([]);
  const asked = readQuestion(query);
  const way = query.get('way') ?? undefined;
  const chosen = query.get('node') ?? undefined;
  const isNearHidden = query.get('near') === 'off';
  const { data: found } = useGraphSearch(dataset, asked);
  const steps = isAsked(asked) ? shownWay(found, way) : NO_STEPS;
  const drawn = useMemo(() => drawnPart(part, steps, isNearHidden), [part, steps, isNearHidden]);
  const onChoose = useCallback((id: string) => changeQuery({ node: id }), []);
  const pick = (name: string): void =>
    setPicked((now) => (now.includes(name) ? now.filter((one) => one !== name) : [...now.slice(-1), name]));
  return (
    <div className={style.view}>
      <FreshNotice dataset={dataset} />
      <PartFilters filter={filter} part={part} isNearHidden={isNearHidden} onChange={change} />
      <Counts part={part} isPart={filter.around !== '' || filter.types.length > 0 || filter.community !== ''} />
      <div className={style.columns}>
        <div className={style.view}>
          {drawn.nodes.length > 0 && <DrawingPlace part={drawn} chosen={chosen} onChoose={onChoose} />}
          <EntityTable
            nodes={part.nodes}
            words={query.get('find') ?? ''}
            page={wholeOf(query, 'page', 1)}
            chosen={chosen}
            picked={picked}
            onPick={pick}
            onChange={change}
          />
        </div>
        <div className={style.view}>
          {chosen !== undefined && <EntityPanel key={chosen} dataset={dataset} id={chosen} onChange={change} />}
          <QuestionPanel
            dataset={dataset}
            asked={asked}
            way={way}
            names={part.nodes.map(({ name }) => name)}
            onChange={change}
          />
          <MergePanel dataset={dataset} picked={picked} onDone={() => setPicked([])} />
          <BuildPanel dataset={dataset} />
        </div>
      </div>
    </div>
  );
}

/** The same from one drawing to the next. */
const NO_STEPS = [] as const;

function Counts({ part, isPart }: { readonly part: GraphPart; readonly isPart: boolean }) {
  const words = useTexts(graphTexts);
  const { language } = useChoices();
  const { nodes, edges, total } = part;
  if (nodes.length === 0) {
    return (
      <EmptyNote title={isPart ? words.noneFits : words.noneYet}>{isPart && <p>{words.noneFitsHint}</p>}</EmptyNote>
    );
  }
  const said = edges.filter(({ isExplicit }) => isExplicit).length;
  const number = (value: number): string => value.toLocaleString(language);
  return (
    <p role="status" className={style.hint}>
      {words.shown(number(nodes.length), number(total))}, {words.relations(number(said), number(edges.length - said))}
    </p>
  );
}
