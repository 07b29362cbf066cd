/** The entities of the part that is shown, as a table: all that the drawing has, for those who do not see it. */
import { useId } from 'react';
import style from '../datasets/datasets.module.css';
import { PageTurner } from '../parts/page-turner.js';
import { useChoices } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import { kindTexts, namedText } from './entity-kinds.js';
import { EntityName } from './entity-name.js';
import own from './graph.module.css';
import type { GraphNode } from './graph-data.js';
import { graphTexts } from './graph-texts.js';

const PAGE = 25;

export interface EntityTableProps {
  readonly nodes: readonly GraphNode[];
  /** A text that names have in them. */
  readonly words: string;
  /** From 1. */
  readonly page: number;
  readonly chosen: string | undefined;
  /** Names that are chosen for a merge, two at most. */
  readonly picked: readonly string[];
  readonly onPick: (name: string) => void;
  readonly onChange: (change: Readonly<Record<'find' | 'page' | 'node', string | number | undefined>>) => void;
}

export function EntityTable({ nodes, words: find, page, chosen, picked, onPick, onChange }: EntityTableProps) {
  const words = useTexts(graphTexts);
  const heading = useId();
  const wanted = find.trim().toLowerCase();
  const fitting = wanted === '' ? nodes : nodes.filter(({ name }) => name.toLowerCase().includes(wanted));
  const pages = Math.max(1, Math.ceil(fitting.length / PAGE));
  const now = Math.min(page, pages);
  const change = (next: Partial<Record<'find' | 'page' | 'node', string | number | undefined>>) =>
    onChange({ find: find || undefined, page: now === 1 ? undefined : now, node: chosen, ...next });
  return (
    <section aria-labelledby={heading} className={own.list}>
      <div className={own.line}>
        <h2 id={heading}>{words.entities}</h2>
        <input
          type="search"
          className={own.field}
          aria-label={words.find}
          placeholder={words.find}
          value={find}
          onChange={({ target }) => change({ find: target.value || undefined, page: undefined })}
        />
      </div>
      {fitting.length === 0 && <p role="status">{words.noneFits}</p>}
      {fitting.length > 0 && (
        <table className={`${style.table} ${own.table}`} aria-labelledby={heading}>
          <thead>
            <tr>
              <th scope="col">
                <span className="unseen">{words.choose('')}</span>
              </th>
              <th scope="col">{words.name}</th>
              <th scope="col">{words.kind}</th>
              <th scope="col" className={style.number}>
                {words.mentions}
              </th>
              <th scope="col" className={style.number}>
                {words.documents}
              </th>
            </tr>
          </thead>
          <tbody>
            {fitting.slice((now - 1) * PAGE, now * PAGE).map((node) => (
              <EntityLine
                key={node.id}
                node={node}
                isChosen={node.id === chosen}
                isPicked={picked.includes(node.name)}
                onPick={() => onPick(node.name)}
                onChoose={() => change({ node: node.id })}
              />
            ))}
          </tbody>
        </table>
      )}
      {pages > 1 && (
        <PageTurner page={now} pages={pages} onTurn={(next) => change({ page: next === 1 ? undefined : next })} />
      )}
    </section>
  );
}

interface EntityLineProps {
  readonly node: GraphNode;
  readonly isChosen: boolean;
  readonly isPicked: boolean;
  readonly onPick: () => void;
  readonly onChoose: () => void;
}

function EntityLine({ node, isChosen, isPicked, onPick, onChoose }: EntityLineProps) {
  const words = useTexts(graphTexts);
  const kinds = useTexts(kindTexts);
  const { language } = useChoices();
  const { name, type, mentions, documents, isGiven } = node;
  return (
    <tr aria-current={isChosen ? 'true' : undefined}>
      <td>
        <input type="checkbox" aria-label={words.choose(name)} checked={isPicked} onChange={onPick} />
      </td>
      <th scope="row">
        <EntityName name={name} type={type} onChoose={onChoose} />
        {isGiven && <span className={style.mark}>{words.given}</span>}
      </th>
      <td className={own.kindName}>{namedText(kinds, type)}</td>
      <td className={style.number}>{mentions.toLocaleString(language)}</td>
      <td className={style.number}>{documents.toLocaleString(language)}</td>
    </tr>
  );
}
