/** Where a component leads, way by way: what the edges of the canvas say, by keyboard. */
import { Plus, X } from 'lucide-react';
import type { DocumentComponent } from '../../../src/dsl/document.js';
import { resolverOf, targetsOf, type Way, whyNotConnectedFrom } from '../../../src/dsl/edit/index.js';
import { IconButton } from '../../parts/button.js';
import { useTexts } from '../../shell/texts.js';
import { useEditor } from '../editor-context.js';
import { addConnection, removeConnection } from '../model/commands.js';
import { listedWays } from '../model/ways.js';
import style from './inspector.module.css';
import { inspectorTexts } from './inspector-texts.js';

export function WaysSection({ component }: { readonly component: DocumentComponent }) {
  const words = useTexts(inspectorTexts);
  const { store } = useEditor();
  const { document } = store;
  const resolve = resolverOf(document);
  const ways = listedWays(document, component.id, (way) => targetsOf(component, way, resolve));
  return (
    <section className={style.section} aria-label={words.leads}>
      <h3>{words.leads}</h3>
      {ways.map((way) => (
        <WayLine key={keyOf(way)} component={component} way={way} targets={targetsOf(component, way, resolve)} />
      ))}
    </section>
  );
}

interface WayLineProps {
  readonly component: DocumentComponent;
  readonly way: Way;
  readonly targets: readonly string[];
}

function WayLine({ component: { id: from }, way, targets }: WayLineProps) {
  const words = useTexts(inspectorTexts);
  const { store, ask } = useEditor();
  const { components } = store.document;
  const name = wayName(way, words);
  return (
    <div className={style.way}>
      <span className={style.wayName}>{name}</span>
      <ul>
        {targets.map((to) => {
          const title = components[to]?.name ?? to;
          return (
            <li key={to}>
              <button type="button" className={style.target} onClick={() => store.select([to])}>
                {title}
              </button>
              <IconButton
                label={words.insert(title)}
                onClick={({ currentTarget }) => {
                  const { left, bottom } = currentTarget.getBoundingClientRect();
                  ask({ behind: { from, way, to }, screen: { x: left, y: bottom } });
                }}
              >
                <Plus size={14} aria-hidden="true" />
              </IconButton>
              <IconButton label={words.disconnect(title)} onClick={() => removeConnection(store, { from, to, way })}>
                <X size={14} aria-hidden="true" />
              </IconButton>
            </li>
          );
        })}
      </ul>
      <TargetSelect label={words.connect(name)} from={from} way={way} />
    </div>
  );
}

/** What is refused stands there with the reason, and cannot be chosen. */
function TargetSelect({ label, from, way }: { readonly label: string; readonly from: string; readonly way: Way }) {
  const words = useTexts(inspectorTexts);
  const { store } = useEditor();
  const { document } = store;
  const others = Object.values(document.components).filter(({ id }) => id !== from);
  const whyNot = whyNotConnectedFrom(document, { from, way });
  return (
    <select
      aria-label={label}
      className={style.targets}
      value=""
      onChange={(event) => {
        if (event.target.value !== '') addConnection(store, { from, to: event.target.value, way });
      }}
    >
      <option value="">{words.choose}</option>
      {others.map(({ id, name }) => {
        const refused = whyNot(id);
        return refused === undefined ? (
          <option key={id} value={id}>
            {name}
          </option>
        ) : (
          <option key={id} value={id} disabled title={refused.message}>
            {name}: {refused.message}
          </option>
        );
      })}
    </select>
  );
}

function keyOf(way: Way): string {
  if (way.kind === 'case') return `case ${way.index}`;
  return way.kind === 'category' ? `category ${way.name}` : way.kind;
}

function wayName(
  way: Way,
  words: { next: string; else: string; error: string; case: (number: number) => string },
): string {
  if (way.kind === 'case') return words.case(way.index + 1);
  return way.kind === 'category' ? way.name : words[way.kind];
}
