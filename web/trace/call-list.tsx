/** The calls of an activation: models, tools and agents, with their times, tokens and failures. */
import { useMemo } from 'react';
import type { ActivationPicture } from '../../src/canvas/picture/picture.js';
import { formatMs } from '../../src/canvas/timeline-rows.js';
import type { KeyedCall } from '../../src/graph/calls.js';
import { jsonOrText } from '../../src/json.js';
import { callsOf, type ToolLog } from '../chat/transcript.js';
import { JsonView } from '../parts/json-view.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import style from './activation-details.module.css';
import { StatusTag } from './status-tag.js';

const texts = defineTexts({
  en: {
    title: 'Calls',
    model: 'model',
    tool: 'tool',
    agent: 'agent',
    after: (time: string) => `after ${time}`,
    first: (time: string) => `first piece after ${time}`,
    tokens: (count: number) => `${count.toLocaleString('en')} tokens`,
    asked: 'Asked',
    answered: 'Answered',
  },
  zh: {
    title: '调用',
    model: '模型',
    tool: '工具',
    agent: '智能体',
    after: (time: string) => `开始于 ${time}`,
    first: (time: string) => `首段于 ${time} 后`,
    tokens: (count: number) => `${count.toLocaleString('zh')} 词元`,
    asked: '请求',
    answered: '回答',
  },
});

export interface CallListProps {
  readonly activation: ActivationPicture;
  /** When the run began, in milliseconds since 1970. */
  readonly startMs: number;
}

export function CallList({ activation, startMs }: CallListProps) {
  const words = useTexts(texts);
  const items = useMemo(() => callsOf(activation), [activation]);
  const { calls } = activation;
  // What it was asked tells most of why an answer is as it is.
  const lastModel = calls.findLast(({ kind }) => kind === 'model');
  const others = items.filter(({ call }) => call === undefined);
  if (calls.length + others.length === 0) return null;
  return (
    <div className={style.part}>
      <h4>{words.title}</h4>
      <ul className={style.calls}>
        {calls.map((call) => (
          <CallLine
            key={call.id}
            call={call}
            startMs={startMs}
            isOpen={call === lastModel}
            logged={items.find((item) => item.call === call)?.logged}
          />
        ))}
        {others.map(({ key, name, logged }) => (
          <li key={key}>
            <div className={style.call}>
              <strong>{name}</strong>
              <span>{words.tool}</span>
            </div>
            {logged !== undefined && <Logged log={logged} />}
          </li>
        ))}
      </ul>
    </div>
  );
}

interface CallLineProps {
  readonly call: KeyedCall;
  readonly startMs: number;
  /** Whether what it was asked is unfolded at first. */
  readonly isOpen: boolean;
  /** What was asked and answered, where the log has it. */
  readonly logged: ToolLog | undefined;
}

function CallLine({ call, startMs, isOpen, logged }: CallLineProps) {
  const words = useTexts(texts);
  const { kind, name, status, error, startedAtMs, firstPieceAtMs, endedAtMs, usage, parent, asked } = call;
  const facts = [
    words[kind],
    words.after(formatMs(Math.max(0, startedAtMs - startMs))),
    endedAtMs === undefined ? '' : formatMs(endedAtMs - startedAtMs),
    firstPieceAtMs === undefined ? '' : words.first(formatMs(firstPieceAtMs - startedAtMs)),
    usage === undefined ? '' : words.tokens(usage.totalTokens),
  ];
  return (
    <li className={parent === undefined ? undefined : style.inner}>
      <div className={style.call}>
        <StatusTag status={status === 'done' ? 'settled' : status} isSmall />
        <strong>{name}</strong>
        <span>{facts.filter((fact) => fact !== '').join(' · ')}</span>
      </div>
      {error !== undefined && <p className={style.callError}>{error}</p>}
      {asked !== undefined && (
        <details open={isOpen}>
          <summary>{words.asked}</summary>
          <JsonView value={asked} label={words.asked} levels={4} />
        </details>
      )}
      {logged !== undefined && <Logged log={logged} />}
    </li>
  );
}

function Logged({ log: { arguments: given, result } }: { readonly log: ToolLog }) {
  const words = useTexts(texts);
  return (
    <>
      <details>
        <summary>{words.asked}</summary>
        <JsonView value={given} label={words.asked} />
      </details>
      <details>
        <summary>{words.answered}</summary>
        <JsonView value={typeof result === 'string' ? jsonOrText(result) : result} label={words.answered} />
      </details>
    </>
  );
}
