/** A component as a card: what it is, what it does, its tools and its ways out. */
import type { NodeProps } from '@xyflow/react';
import { Check, ShieldAlert } from 'lucide-react';
import { memo } from 'react';
import type { NodePicture } from '../../../src/canvas/picture/picture.js';
import { canonicalId } from '../../../src/dsl/component-id.js';
import { defineTexts, useTexts } from '../../shell/texts.js';
import type { Branch, OfferedTool } from '../describe.js';
import type { DrawnNode } from '../drawing.js';
import { branchHandle, branchName, type CardFlowNode, ENTRY, EXCEPTION, EXIT } from '../flow.js';
import { kindOf, SERVER_ICON } from '../kinds.js';
import { useNodePicture } from '../live/live-run.js';
import { newestActivation, type StateTexts, stateTexts, tellingText, tokensText } from '../live/node-state.js';
import { MAX_TOOLS } from '../sizes.js';
import { Badges } from './badges.js';
import style from './card.module.css';
import { NodeNames } from './names.js';
import { NodeState } from './node-state.js';
import { Port } from './port.js';
import { useIsKnown } from './surroundings.js';

const texts = defineTexts({
  en: {
    unknown: 'unknown type',
    case: (number: number) => `Case ${number}`,
    else: 'else',
    onError: 'on error',
    more: (count: number) => `${count} more`,
    tools: 'Tools',
    branches: 'Branches',
  },
  zh: {
    unknown: '未知类型',
    case: (number: number) => `条件 ${number}`,
    else: '否则',
    onError: '出错时',
    more: (count: number) => `还有 ${count} 个`,
    tools: '工具',
    branches: '分支',
  },
});

export const Card = memo(function Card({ data: { node }, selected }: NodeProps<CardFlowNode>) {
  const words = useTexts(texts);
  const states = useTexts(stateTexts);
  const isKnown = useIsKnown(node.type);
  const picture = useNodePicture(node.id);
  const { group } = kindOf(node.type, isKnown);
  const status = picture?.status ?? 'idle';
  const telling = picture === undefined ? '' : tellingText(picture, states);
  const chosen = picture === undefined ? undefined : chosenOf(picture);
  const look = [style.card, style[group], style[`is-${status}`], selected ? style.selected : ''];
  return (
    <div className={look.join(' ')}>
      <NodeNames node={node} picture={picture} about={aboutText(node, isKnown, words, chosen, states.chosen)} />
      <Port id={ENTRY} kind="target" className={style.entry} />
      <Port id={EXIT} kind="source" className={node.branches.length > 0 ? style.unused : style.exit} />
      <CardHead node={node} isKnown={isKnown} picture={picture} />
      <p className={telling === '' ? style.summary : `${style.summary} ${style.telling}`}>
        {telling || node.summary || node.id}
      </p>
      <ToolRows node={node} />
      {node.branches.map((branch, number) => (
        <div
          key={branchName(branch, number, words)}
          className={isChosen(branch, chosen) ? `${style.row} ${style.chosen}` : style.row}
        >
          <b>{branchName(branch, number, words)}</b>
          <span>{branch.condition}</span>
          {isChosen(branch, chosen) && <Check size={13} aria-hidden="true" />}
          <Port id={branchHandle(number)} kind="source" className={style.port} />
        </div>
      ))}
      {node.hasExceptions && (
        <div className={`${style.row} ${style.exception}`}>
          <ShieldAlert size={13} aria-hidden="true" />
          <b>{words.onError}</b>
          <Port id={EXCEPTION} kind="source" className={style.port} />
        </div>
      )}
    </div>
  );
});

function CardHead({
  node,
  isKnown,
  picture,
}: {
  readonly node: DrawnNode;
  readonly isKnown: boolean;
  readonly picture: NodePicture | undefined;
}) {
  const { icon: Icon } = kindOf(node.type, isKnown);
  const words = useTexts(texts);
  const states = useTexts(stateTexts);
  return (
    <div className={style.head}>
      <span className={style.icon}>
        <Icon size={17} aria-hidden="true" />
      </span>
      <div className={style.title}>
        <strong title={node.name}>{node.name}</strong>
        <div className={style.line}>
          <span className={style.type} title={`${node.type} · ${node.id}`}>
            {isKnown ? aboutType(node, picture, states) : `${node.type}, ${words.unknown}`}
          </span>
          <Badges badges={node.badges} />
          {picture !== undefined && <NodeState node={picture} />}
        </div>
      </div>
    </div>
  );
}

/** The type, and the id where it says more; in a run the tokens. */
function aboutType({ type, id, name }: DrawnNode, picture: NodePicture | undefined, states: StateTexts): string {
  if (picture !== undefined && picture.status !== 'idle') return tokensText(picture, states) || type;
  const isTold = canonicalId(id) === canonicalId(`${type}:${name}`) || canonicalId(id) === canonicalId(type);
  return isTold ? type : `${type} · ${id}`;
}

function ToolRows({ node: { tools } }: { readonly node: DrawnNode }) {
  const words = useTexts(texts);
  const shown = tools.length > MAX_TOOLS ? tools.slice(0, MAX_TOOLS) : tools;
  return (
    <>
      {shown.map((tool, number) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: tools have no other identity, and their order never changes
        <ToolRow key={number} tool={tool} />
      ))}
      {shown.length < tools.length && (
        <p className={`${style.row} ${style.offered}`}>{words.more(tools.length - shown.length)}</p>
      )}
    </>
  );
}

function ToolRow({ tool: { name, type, kind } }: { readonly tool: OfferedTool }) {
  const words = useTexts(texts);
  const isKnown = useIsKnown(type) || kind === 'server';
  const { icon, group } = kindOf(type, isKnown);
  const Icon = kind === 'server' ? SERVER_ICON : icon;
  return (
    <p className={`${style.row} ${style.offered} ${style[kind === 'agent' ? 'model' : group]}`}>
      <Icon size={13} aria-hidden="true" />
      <span>{isKnown ? name : `${name}, ${words.unknown}`}</span>
    </p>
  );
}

type Words = (typeof texts)['en'];

/** What readers of the screen hear behind the name. */
function aboutText(
  node: DrawnNode,
  isKnown: boolean,
  words: Words,
  chosen: ReadonlySet<string> | undefined,
  chosenWord: string,
): string {
  const branches = node.branches.map((branch, number) =>
    [branchName(branch, number, words), branch.condition, isChosen(branch, chosen) ? chosenWord : '']
      .filter(Boolean)
      .join(' '),
  );
  return [
    ...(isKnown ? [] : [words.unknown]),
    node.summary,
    ...(node.tools.length > 0 ? [`${words.tools}: ${node.tools.map(({ name }) => name).join(', ')}`] : []),
    ...(branches.length > 0 ? [`${words.branches}: ${branches.join('; ')}`] : []),
  ]
    .filter(Boolean)
    .join('. ');
}

/** Ids that the node chose last, in the form in which ids are compared. */
function chosenOf(picture: NodePicture): ReadonlySet<string> | undefined {
  const next = newestActivation(picture)?.next;
  return next === undefined ? undefined : new Set(next.map(canonicalId));
}

function isChosen({ targets }: Branch, chosen: ReadonlySet<string> | undefined): boolean {
  return chosen !== undefined && targets.length > 0 && targets.every((id) => chosen.has(canonicalId(id)));
}
