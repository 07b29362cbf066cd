/** A chosen entity: what is said of it, its other names, what it has to do with others, and where it stands. */

import { X } from 'lucide-react';
import { useId } from 'react';
import type { GraphPart } from '../../src/knowledge/graph/graph-answers.js';
import { Button, IconButton } from '../parts/button.js';
import { ErrorNote, LoadingNote } from '../parts/notes.js';
import { useChoices } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import { kindTexts, namedText } from './entity-kinds.js';
import { EntityName } from './entity-name.js';
import { EntityNames } from './entity-names.js';
import style from './graph.module.css';
import { type GraphNode, useNeighbours } from './graph-data.js';
import { useAbout } from './graph-questions.js';
import { graphTexts } from './graph-texts.js';
import { PassageCard } from './passage-card.js';

type Change = Readonly<Record<string, string | undefined>>;

interface EntityPanelProps {
  readonly dataset: string;
  readonly id: string;
  readonly onChange: (change: Change) => void;
}

export function EntityPanel({ dataset, id, onChange }: EntityPanelProps) {
  const words = useTexts(graphTexts);
  const heading = useId();
  const { data, error, refetch } = useNeighbours(dataset, id);
  const node = data?.nodes[0];
  return (
    <section className={style.panel} aria-labelledby={heading}>
      <div className={style.line}>
        <h2 id={heading}>{node === undefined ? '…' : <EntityName name={node.name} type={node.type} />}</h2>
        <IconButton label={words.close} onClick={() => onChange({ node: undefined })}>
          <X size={16} aria-hidden="true" />
        </IconButton>
      </div>
      {data === undefined && error === null && <LoadingNote />}
      {data === undefined && error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {data !== undefined && node === undefined && <p>{words.gone}</p>}
      {data !== undefined && node !== undefined && (
        <>
          <EntityFacts dataset={dataset} node={node} onChange={onChange} />
          <Relations part={data} node={node} onChoose={(other) => onChange({ node: other })} />
          <Passages dataset={dataset} name={node.name} />
        </>
      )}
    </section>
  );
}

interface EntityFactsProps {
  readonly dataset: string;
  readonly node: GraphNode;
  readonly onChange: (change: Change) => void;
}

function EntityFacts({ dataset, node, onChange }: EntityFactsProps) {
  const words = useTexts(graphTexts);
  const kinds = useTexts(kindTexts);
  const { language } = useChoices();
  const { data } = useAbout(dataset, node.name);
  const { id, name, type, mentions, documents, isGiven } = node;
  const description = data?.entities.find((one) => one.id === id)?.description ?? '';
  const number = (value: number): string => value.toLocaleString(language);
  return (
    <>
      <p className={style.hint}>
        {namedText(kinds, type)}
        {isGiven && `, ${words.given}`}, {words.mentioned(number(mentions), number(documents))}
      </p>
      {description !== '' && (
        <p className={style.text} dir="auto">
          {description}
        </p>
      )}
      <div className={style.line}>
        <Button onClick={() => onChange({ around: name, page: undefined })}>{words.showAround}</Button>
        <Button onClick={() => onChange({ kind: 'path', from: name, to: undefined, q: undefined })}>
          {words.wayFrom}
        </Button>
      </div>
      <EntityNames key={id} dataset={dataset} name={name} />
    </>
  );
}

/** Relations that are listed. */
const MAX_RELATIONS = 60;

interface RelationsProps {
  readonly part: GraphPart;
  readonly node: GraphNode;
  readonly onChoose: (id: string) => void;
}

function Relations({ part, node, onChoose }: RelationsProps) {
  const words = useTexts(graphTexts);
  const nodes = new Map(part.nodes.map((one) => [one.id, one]));
  const own = part.edges.filter(({ source, target }) => source === node.id || target === node.id);
  return (
    <>
      <h3>{words.relationsOf}</h3>
      {own.length === 0 && <p className={style.hint}>{words.noRelations}</p>}
      <ul className={style.items} aria-label={words.relationsOf}>
        {own.slice(0, MAX_RELATIONS).map(({ source, target, relation, isExplicit }) => {
          const isOut = source === node.id;
          const other = nodes.get(isOut ? target : source);
          return (
            <li key={JSON.stringify([source, target, relation])}>
              <bdi>{namedText(words.relationNames, relation)}</bdi> {isExplicit && (isOut ? words.out : words.in)}{' '}
              {other !== undefined && (
                <EntityName name={other.name} type={other.type} onChoose={() => onChoose(other.id)} />
              )}
            </li>
          );
        })}
      </ul>
      {own.length > MAX_RELATIONS && <p className={style.hint}>{words.more(String(own.length - MAX_RELATIONS))}</p>}
    </>
  );
}

function Passages({ dataset, name }: { readonly dataset: string; readonly name: string }) {
  const words = useTexts(graphTexts);
  const { data, error, refetch } = useAbout(dataset, name);
  if (data === undefined) {
    return error === null ? <LoadingNote /> : <ErrorNote error={error} onRetry={() => void refetch()} />;
  }
  return (
    <>
      <h3>{words.passages}</h3>
      {data.hits.length === 0 && <p className={style.hint}>{words.noPassages}</p>}
      <ul className={style.items} aria-label={words.passages}>
        {data.hits.map((hit) => (
          <li key={hit.id}>
            <PassageCard hit={hit} />
          </li>
        ))}
      </ul>
    </>
  );
}
