/** Differences of two documents, by component or as text. */
import { Tabs } from 'radix-ui';
import { useMemo } from 'react';
import { readDocument } from '../../src/dsl/read.js';
import type { Json, JsonObject } from '../../src/json.js';
import { WordDifferences } from '../debug/word-differences.js';
import { hideSecrets } from '../editor/form/field-model.js';
import { useTexts } from '../shell/texts.js';
import { type ComponentChange, compareDocuments, type DocumentChanges, type ValueChange } from './compare-documents.js';
import { LineDifferences } from './line-differences.js';
import style from './versions.module.css';
import { versionsTexts } from './versions-texts.js';

export interface DifferencesProps {
  readonly label: string;
  readonly before: JsonObject;
  readonly after: JsonObject;
}

/** Secrets are not shown: one that differs is told as a component that changed. */
export function Differences({ label, before, after }: DifferencesProps) {
  const words = useTexts(versionsTexts);
  const [one, other] = useMemo(
    () => [hideSecrets(before) as JsonObject, hideSecrets(after) as JsonObject],
    [before, after],
  );
  const changes = useMemo(() => {
    const [from, to] = [readDocument(one).document, readDocument(other).document];
    return from === undefined || to === undefined ? undefined : compareDocuments(from, to);
  }, [one, other]);
  return (
    <section aria-label={label} className={style.differences}>
      <h3>{label}</h3>
      <Tabs.Root defaultValue="components">
        <Tabs.List className={style.tabs} aria-label={words.view}>
          <Tabs.Trigger value="components" className={style.tab}>
            {words.byComponent}
          </Tabs.Trigger>
          <Tabs.Trigger value="text" className={style.tab}>
            {words.asText}
          </Tabs.Trigger>
        </Tabs.List>
        <Tabs.Content value="components">
          {changes === undefined ? <p>{words.unreadable}</p> : <Changes changes={changes} />}
        </Tabs.Content>
        <Tabs.Content value="text">
          <LineDifferences a={JSON.stringify(one, null, 2)} b={JSON.stringify(other, null, 2)} />
        </Tabs.Content>
      </Tabs.Root>
    </section>
  );
}

function Changes({ changes: { components, edges, variables } }: { readonly changes: DocumentChanges }) {
  const words = useTexts(versionsTexts);
  if (components.length + edges.length + variables.length === 0) return <p className={style.same}>{words.same}</p>;
  return (
    <>
      {components.map((change) => (
        <Component key={change.id} change={change} />
      ))}
      {edges.length > 0 && (
        <section className={style.change} aria-label={words.edges}>
          <h4>{words.edges}</h4>
          <ul className={style.edges}>
            {edges.map(({ from, to, way, kind }) => (
              <li key={JSON.stringify([from, to, way, kind])} className={style[kind]}>
                <b>{words[kind]}</b> {from} → {to}
                {way !== '' && `, ${way}`}
              </li>
            ))}
          </ul>
        </section>
      )}
      {variables.length > 0 && (
        <section className={style.change} aria-label={words.variables}>
          <h4>{words.variables}</h4>
          {variables.map((value) => (
            <Value key={value.path} value={value} />
          ))}
        </section>
      )}
    </>
  );
}

function Component({ change: { name, type, kind, values } }: { readonly change: ComponentChange }) {
  const words = useTexts(versionsTexts);
  return (
    <section className={style.change} aria-label={`${name}, ${words[kind]}`}>
      <h4>
        {name} <small>{type}</small> <span className={style[kind]}>{words[kind]}</span>
      </h4>
      {values.map((value) => (
        <Value key={value.path} value={value} />
      ))}
    </section>
  );
}

function Value({ value: { path, before, after } }: { readonly value: ValueChange }) {
  const words = useTexts(versionsTexts);
  const text = (value: Json | undefined) =>
    value === undefined || value === null
      ? words.nothing
      : typeof value === 'string'
        ? value
        : JSON.stringify(value, null, 2);
  return (
    <div className={style.value}>
      <code>{path}</code>
      <WordDifferences a={text(before)} b={text(after)} />
    </div>
  );
}
