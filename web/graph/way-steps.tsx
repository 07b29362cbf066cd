/** The steps of a way through a graph, in words. */
import { useTexts } from '../shell/texts.js';
import { EntityName } from './entity-name.js';
import style from './graph.module.css';
import type { GraphStep } from './graph-questions.js';
import { graphTexts } from './graph-texts.js';

export function WaySteps({ steps }: { readonly steps: readonly GraphStep[] }) {
  const { relationNames } = useTexts(graphTexts);
  return (
    <ol className={style.items}>
      {steps.map(({ from, to, relation }) => (
        <li key={JSON.stringify([from, to, relation])}>
          <EntityName name={from} type="" /> <em>{relationNames[relation] ?? relation}</em>{' '}
          <EntityName name={to} type="" />
        </li>
      ))}
    </ol>
  );
}
