/** The steps of a way through a graph, in words. */
import type { GraphStep } from '../../src/knowledge/graph/graph-search.js';
import { useTexts } from '../shell/texts.js';
import { namedText } from './entity-kinds.js';
import { EntityName } from './entity-name.js';
import style from './graph.module.css';
import { distinctSteps, stepKey } from './graph-questions.js';
import { graphTexts } from './graph-texts.js';

export function WaySteps({ steps }: { readonly steps: readonly GraphStep[] }) {
  const { relationNames } = useTexts(graphTexts);
  return (
    <ol className={style.items}>
      {distinctSteps(steps).map((step) => (
        <li key={stepKey(step)}>
          <EntityName name={step.from} type="" /> <em>{namedText(relationNames, step.relation)}</em>{' '}
          <EntityName name={step.to} type="" />
        </li>
      ))}
    </ol>
  );
}
