/** A call of a tool or an agent: its name and how it went; folded, what it was given and what came back. */
import { Bot, CircleAlert, CircleCheck, CircleSlash, LoaderCircle, Wrench } from 'lucide-react';
import { memo, type ReactNode } from 'react';
import { jsonOrText } from '../../src/json.js';
import { JsonView } from '../parts/json-view.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import style from './answer.module.css';
import { duration } from './duration.js';
import type { CallItem } from './transcript.js';

const texts = defineTexts({
  en: {
    given: 'Arguments',
    result: 'Result',
    error: 'Error',
    status: { open: 'running', done: 'done', failed: 'failed', stopped: 'stopped' },
    nothing: 'The log has neither its arguments nor its result.',
  },
  zh: {
    given: '参数',
    result: '结果',
    error: '错误',
    status: { open: '运行中', done: '完成', failed: '失败', stopped: '已停止' },
    nothing: '日志中没有它的参数和结果。',
  },
});

export interface ToolCardProps {
  readonly item: CallItem;
  /** Whether its run is: what is open then goes on. */
  readonly isAtWork: boolean;
}

export const ToolCard = memo(function ToolCard({ item, isAtWork }: ToolCardProps) {
  const words = useTexts(texts);
  const { call, logged, name } = item;
  const told = call?.status ?? 'done';
  const status = told === 'open' && !isAtWork ? 'stopped' : told;
  const elapsed = call?.endedAtMs === undefined ? logged?.elapsedMs : call.endedAtMs - call.startedAtMs;
  return (
    <details className={`${style.folded} ${style.card} ${style[status]}`}>
      <summary>
        {call?.kind === 'agent' ? <Bot size={14} aria-hidden="true" /> : <Wrench size={14} aria-hidden="true" />}
        <code className={style.name}>{logged?.path ? `${logged.path} › ${name}` : name}</code>
        <span className={style.status}>
          {ICONS[status]} {words.status[status]}
          {elapsed !== undefined && ` · ${duration(elapsed)}`}
        </span>
      </summary>
      {logged === undefined && call?.error === undefined && <p>{words.nothing}</p>}
      <dl>
        {logged !== undefined && (
          <Detail title={words.given}>
            <JsonView label={words.given} value={logged.arguments} />
          </Detail>
        )}
        {logged !== undefined && (
          <Detail title={words.result}>
            <JsonView
              label={words.result}
              value={typeof logged.result === 'string' ? jsonOrText(logged.result) : logged.result}
            />
          </Detail>
        )}
        {call?.error !== undefined && <Detail title={words.error}>{call.error}</Detail>}
      </dl>
    </details>
  );
});

const ICONS: Readonly<Record<'open' | 'done' | 'failed' | 'stopped', ReactNode>> = {
  open: <LoaderCircle size={14} aria-hidden="true" />,
  done: <CircleCheck size={14} aria-hidden="true" />,
  failed: <CircleAlert size={14} aria-hidden="true" />,
  stopped: <CircleSlash size={14} aria-hidden="true" />,
};

function Detail({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>{children}</dd>
    </div>
  );
}
