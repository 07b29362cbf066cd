/** How an agent ran last. */
import { sinceText } from '../parts/since.js';
import { useChoices } from '../shell/studio.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import { type RunItem, useLastRun } from './agent-data.js';
import style from './last-run.module.css';

const texts = defineTexts({
  en: {
    never: 'never run',
    states: {
      running: 'running',
      waiting: 'waiting',
      succeeded: 'succeeded',
      failed: 'failed',
      cancelled: 'stopped',
    } satisfies Record<RunItem['status'], string>,
  },
  zh: {
    never: '从未运行',
    states: {
      running: '运行中',
      waiting: '等待中',
      succeeded: '成功',
      failed: '失败',
      cancelled: '已停止',
    } satisfies Record<RunItem['status'], string>,
  },
});

export function LastRun({ agent }: { readonly agent: string }) {
  const words = useTexts(texts);
  const { language } = useChoices();
  const { data: run, dataUpdatedAt } = useLastRun(agent);
  if (run === undefined) return <span className={style.last} />;
  if (run === null) return <span className={style.last}>{words.never}</span>;
  return (
    <a className={style.last} href={`#/agents/${encodeURIComponent(agent)}/runs/${encodeURIComponent(run.run_id)}`}>
      <b className={style[run.status]}>{words.states[run.status]}</b>{' '}
      <time dateTime={new Date(run.started_at).toISOString()}>
        {sinceText(run.started_at, dataUpdatedAt, language)}
      </time>
    </a>
  );
}
