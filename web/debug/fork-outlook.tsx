/** What a run that goes on from an event keeps, repeats and may still do. */
import { useTexts } from '../shell/texts.js';
import style from './fork-dialog.module.css';
import type { ForkNode, ForkPlan } from './fork-plan.js';
import { forkTexts } from './fork-texts.js';

export function ForkOutlook({ plan }: { readonly plan: ForkPlan }) {
  const words = useTexts(forkTexts);
  const { kept, again, later, savedCalls, savedTokens } = plan;
  const going = new Set(again.map(({ node }) => node.id));
  return (
    <div className={style.outlook}>
      <NodeList title={words.kept} nodes={kept} empty={words.keptNone} look={style.kept} going={going} />
      <NodeList title={words.again} nodes={again} empty={words.none} look={style.again} />
      <NodeList title={words.later} nodes={later} empty={words.none} look={style.later} />
      {savedCalls > 0 && <p className={style.saved}>{words.saved(savedCalls, savedTokens)}</p>}
    </div>
  );
}

interface NodeListProps {
  readonly title: string;
  readonly nodes: readonly ForkNode[];
  readonly empty: string;
  readonly look: string | undefined;
  /** Ids of containers that go on: what is in them may run in further passes. */
  readonly going?: ReadonlySet<string>;
}

function NodeList({ title, nodes, empty, look, going }: NodeListProps) {
  const words = useTexts(forkTexts);
  return (
    <section className={look} aria-label={title}>
      <h3>{title}</h3>
      {nodes.length === 0 ? (
        <p>{empty}</p>
      ) : (
        <ul>
          {nodes.map(({ node: { id, name, parent }, finished }) => (
            <li key={id}>
              {name || id}
              {finished > 1 && ` × ${finished.toLocaleString()}`}
              {parent !== undefined && going?.has(parent) === true && (
                <span className={style.note}> {words.soFar}</span>
              )}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
