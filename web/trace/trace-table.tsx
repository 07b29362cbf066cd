/** The data of the waterfall as a table: each node in sum, and each activation in its order. */
import { Fragment, useMemo } from 'react';
import type { ActivationPicture, NodePicture, RunPicture } from '../../src/canvas/picture/picture.js';
import { formatMs } from '../../src/canvas/timeline-rows.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import { StatusTag } from './status-tag.js';
import style from './trace-panel.module.css';
import { traceTexts } from './trace-texts.js';
import { useWhereText } from './where-text.js';

const texts = defineTexts({
  en: {
    node: 'Node',
    state: 'State',
    times: 'Times',
    retries: 'Retries',
    busy: 'Time',
    longest: 'Longest',
    tokens: 'Tokens',
    all: 'All nodes',
    steps: 'Steps in the order in which they began',
    nodes: 'Nodes in sum',
    where: 'Where',
    began: 'Began after',
    error: 'Error',
    more: (count: number) => `${count.toLocaleString('en')} more steps are in the waterfall.`,
  },
  zh: {
    node: '节点',
    state: '状态',
    times: '次数',
    retries: '重试',
    busy: '时间',
    longest: '最长',
    tokens: '词元',
    all: '所有节点',
    steps: '按开始顺序排列的步骤',
    nodes: '节点合计',
    where: '位置',
    began: '开始于',
    error: '错误',
    more: (count: number) => `另有 ${count.toLocaleString('zh')} 步，见瀑布图。`,
  },
});

/** Rows of steps, at most: a browser draws a table whole. */
const MAX_STEPS = 500;

export interface TraceTableProps {
  readonly picture: RunPicture;
  readonly nameOf: (id: string) => string;
}

export function TraceTable({ picture, nameOf }: TraceTableProps) {
  const words = useTexts(texts);
  const { trace } = useTexts(traceTexts);
  const nodes = [...picture.nodes.values()].filter(({ activations }) => activations.length > 0);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex lint/a11y/useSemanticElements: it scrolls, and that must work by keyboard
    <div className={`${style.table} ${style.grow}`} role="region" aria-label={trace} tabIndex={0}>
      <table>
        <caption>{words.nodes}</caption>
        <thead>
          <tr>
            <th scope="col">{words.node}</th>
            <th scope="col">{words.state}</th>
            {[words.times, words.retries, words.busy, words.longest, words.tokens].map((title) => (
              <th key={title} scope="col" className={style.number}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {nodes.map((node) => (
            <NodeLine key={node.id} node={node} />
          ))}
        </tbody>
        <tfoot>
          <SumLine nodes={nodes} picture={picture} />
        </tfoot>
      </table>
      <Steps picture={picture} nameOf={nameOf} />
    </div>
  );
}

function NodeLine({ node: { id, name, status, sums } }: { readonly node: NodePicture }) {
  return (
    <tr>
      <th scope="row">{name || id}</th>
      <td>
        <StatusTag status={status} />
      </td>
      <td className={style.number}>{sums.activations.toLocaleString()}</td>
      <td className={style.number}>{sums.retries.toLocaleString()}</td>
      <td className={style.number}>{formatMs(sums.busyMs)}</td>
      <td className={style.number}>{formatMs(sums.longestMs)}</td>
      <td className={style.number}>{sums.usage.totalTokens.toLocaleString()}</td>
    </tr>
  );
}

function SumLine({
  nodes,
  picture: { usage },
}: {
  readonly nodes: readonly NodePicture[];
  readonly picture: RunPicture;
}) {
  const words = useTexts(texts);
  const sum = (of: (node: NodePicture) => number) => nodes.reduce((total, node) => total + of(node), 0);
  return (
    <tr>
      <th scope="row" colSpan={2}>
        {words.all}
      </th>
      <td className={style.number}>{sum(({ sums }) => sums.activations).toLocaleString()}</td>
      <td className={style.number}>{sum(({ sums }) => sums.retries).toLocaleString()}</td>
      <td className={style.number}>{formatMs(sum(({ sums }) => sums.busyMs))}</td>
      <td className={style.number}>{formatMs(Math.max(0, ...nodes.map(({ sums }) => sums.longestMs)))}</td>
      <td className={style.number}>{usage.totalTokens.toLocaleString()}</td>
    </tr>
  );
}

function Steps({ picture, nameOf }: TraceTableProps) {
  const words = useTexts(texts);
  const steps = useMemo(() => {
    const all = [...picture.nodes.values()].flatMap(({ activations }) => activations);
    return all.sort((one, other) => one.ordinal - other.ordinal);
  }, [picture]);
  const { startedAtMs = 0 } = picture;
  return (
    <table>
      <caption>{words.steps}</caption>
      <thead>
        <tr>
          {[words.node, words.where, words.state].map((title) => (
            <th key={title} scope="col">
              {title}
            </th>
          ))}
          {[words.began, words.busy, words.tokens].map((title) => (
            <th key={title} scope="col" className={style.number}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {steps.slice(0, MAX_STEPS).map((step) => (
          <StepLine key={step.ordinal} step={step} nameOf={nameOf} startMs={startedAtMs} />
        ))}
        {steps.length > MAX_STEPS && (
          <tr>
            <td colSpan={6}>{words.more(steps.length - MAX_STEPS)}</td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

interface StepLineProps extends Pick<TraceTableProps, 'nameOf'> {
  readonly step: ActivationPicture;
  readonly startMs: number;
}

function StepLine({ step, nameOf, startMs }: StepLineProps) {
  const words = useTexts(texts);
  const { node, within, status, startedAtMs, elapsedMs, usage, error } = step;
  const whereOf = useWhereText(nameOf);
  return (
    <Fragment>
      <tr>
        <th scope="row">{nameOf(node)}</th>
        <td>{whereOf(within)}</td>
        <td>
          <StatusTag status={status} />
        </td>
        <td className={style.number}>{formatMs(Math.max(0, startedAtMs - startMs))}</td>
        <td className={style.number}>{elapsedMs === undefined ? '' : formatMs(elapsedMs)}</td>
        <td className={style.number}>{usage.totalTokens.toLocaleString()}</td>
      </tr>
      {error !== undefined && (
        <tr>
          <td colSpan={6}>
            {words.error}: <code>{error.code}</code> {error.message}
          </td>
        </tr>
      )}
    </Fragment>
  );
}
