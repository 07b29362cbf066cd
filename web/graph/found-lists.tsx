/** Ways and passages that a graph gave; those with steps are shown in the drawing when the user wishes so. */

import { Route } from 'lucide-react';
import type { GraphStep } from '../../src/knowledge/graph/graph-search.js';
import { IconButton } from '../parts/button.js';
import { useTexts } from '../shell/texts.js';
import { shortName } from './entity-kinds.js';
import style from './graph.module.css';
import type { GraphFound, GraphHit } from './graph-questions.js';
import { PassageCard } from './passage-card.js';
import { questionTexts } from './question-texts.js';
import { WaySteps } from './way-steps.js';

/** The steps that the address names: those of a way by its number from 1, or those that led to a passage. Of ways the first without a name. */
export function shownWay(found: GraphFound | undefined, way: string | undefined): readonly GraphStep[] {
  if (found === undefined) return [];
  return found.paths[Number(way ?? '1') - 1] ?? found.hits.find(({ id }) => id === way)?.why.steps ?? [];
}

interface Showing {
  /** What is drawn: number of a way from 1, or id of a passage. */
  readonly way: string | undefined;
  readonly onShow: (way: string | undefined) => void;
}

/** As a value of the address: no way is drawn. */
const NO_WAY = '0';

export function Ways({ ways, way = '1', onShow }: Showing & { readonly ways: readonly (readonly GraphStep[])[] }) {
  const words = useTexts(questionTexts);
  if (ways.length === 0) return <p role="status">{words.noWay}</p>;
  return (
    <>
      <h3>{words.ways}</h3>
      <ol className={style.items} aria-label={words.ways}>
        {ways.map((steps, at) => {
          const number = String(at + 1);
          const isShown = way === number;
          return (
            <li key={number} className={style.card} aria-current={isShown ? 'true' : undefined}>
              <div className={style.line}>
                <strong>{words.way(at + 1)}</strong>
                <IconButton
                  label={isShown ? words.hideWay(at + 1) : words.showWay(at + 1)}
                  onClick={() => onShow(isShown ? NO_WAY : number)}
                >
                  <Route size={16} aria-hidden="true" />
                </IconButton>
              </div>
              <WaySteps steps={steps} />
            </li>
          );
        })}
      </ol>
    </>
  );
}

export function FoundPassages({ hits, way, onShow }: Showing & { readonly hits: readonly GraphHit[] }) {
  const words = useTexts(questionTexts);
  if (hits.length === 0) return null;
  return (
    <>
      <h3>{words.passages}</h3>
      <ol className={style.items} aria-label={words.passages}>
        {hits.map((hit) => {
          const isShown = way === hit.id;
          const name = shortName(hit.document_keyword);
          return (
            <li key={hit.id}>
              <PassageCard hit={hit}>
                {hit.why.steps.length > 0 && (
                  <IconButton
                    label={isShown ? words.hidePassage(name) : words.showPassage(name)}
                    onClick={() => onShow(isShown ? NO_WAY : hit.id)}
                  >
                    <Route size={16} aria-hidden="true" />
                  </IconButton>
                )}
              </PassageCard>
            </li>
          );
        })}
      </ol>
    </>
  );
}
