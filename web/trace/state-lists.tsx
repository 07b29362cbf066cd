/** What a state has beside values: tokens at work and waiting, open passes, and what was too large to be given. */
import type { ReactNode } from 'react';
import { JsonView } from '../parts/json-view.js';
import { useTexts } from '../shell/texts.js';
import type { BodyItem, RunState } from './read-state.js';
import style from './state-panel.module.css';
import { stateTexts } from './state-texts.js';
import { StatusTag } from './status-tag.js';
import type { TokenState } from './token-states.js';
import { useWhereText } from './where-text.js';

interface Named {
  /** Names of nodes by id. */
  readonly nameOf: (id: string) => string;
}

export function TokenList({ tokens, nameOf }: Named & { readonly tokens: readonly TokenState[] }) {
  const words = useTexts(stateTexts);
  const whereOf = useWhereText(nameOf);
  if (tokens.length === 0) return null;
  return (
    <Section title={words.tokens}>
      <ul className={style.list}>
        {tokens.map(({ node, token, within, status, question }) => (
          <li key={`${node}#${token}`}>
            <div className={style.line}>
              <StatusTag status={status} />
              <strong>{nameOf(node)}</strong>
              <span className={style.soft}>{whereOf(within)}</span>
            </div>
            {question !== undefined && (
              <details>
                <summary>{words.question}</summary>
                <JsonView value={question} label={words.question} />
              </details>
            )}
          </li>
        ))}
      </ul>
    </Section>
  );
}

export function BodyList({ bodies, nameOf }: Named & { readonly bodies: readonly BodyItem[] }) {
  const words = useTexts(stateTexts);
  const whereOf = useWhereText(nameOf);
  if (bodies.length === 0) return null;
  return (
    <Section title={words.bodies}>
      <ul className={style.list}>
        {bodies.map((body) => {
          const name = whereOf(body.within);
          const values = valuesOf(body, words);
          return (
            <li key={body.within}>
              <div className={style.line}>
                <strong>{name}</strong>
              </div>
              {Object.keys(values).length > 0 && <JsonView value={values} label={name} levels={1} />}
            </li>
          );
        })}
      </ul>
    </Section>
  );
}

/** What the pass is about, and below that what it has of its own. */
function valuesOf({ aliases, outputs, variables }: BodyItem, words: (typeof stateTexts)['en']) {
  const given = Object.entries(outputs).filter(([, ports]) => Object.keys(ports).length > 0);
  return {
    ...aliases,
    ...(given.length > 0 && { [words.outputs]: Object.fromEntries(given) }),
    ...(Object.keys(variables).length > 0 && { [words.variables]: variables }),
  };
}

export function OmittedList({ omitted, nameOf }: Named & Pick<RunState, 'omitted'>) {
  const words = useTexts(stateTexts);
  if (omitted.length === 0) return null;
  return (
    <Section title={words.omitted}>
      <ul className={style.list}>
        {omitted.map(({ path, bytes }) => (
          <li key={path.join('\n')}>
            <span className={style.path}>{pathText(path, nameOf, words)}</span>{' '}
            <span className={style.soft}>{words.bytes(bytes)}</span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** `["outputs", "LLM:A", "content"]` as "outputs › Write › content". */
function pathText(path: readonly string[], nameOf: Named['nameOf'], words: (typeof stateTexts)['en']): string {
  const [part = '', id, ...rest] = path;
  const title = { outputs: words.outputs, variables: words.variables, tokens: words.tokens, bodies: words.bodies }[
    part
  ];
  if (id === undefined) return title ?? part;
  return [title ?? part, part === 'outputs' ? nameOf(id) : id, ...rest].join(' › ');
}

function Section({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className={style.section} aria-label={title}>
      <h3>{title}</h3>
      {children}
    </section>
  );
}
