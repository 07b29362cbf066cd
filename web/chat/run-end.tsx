/** How a run stands, or how it ended: working, stopped and what was cut off, failed and what to do. */
import { CircleAlert, RotateCw, Search } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { ActivationPicture, RunPicture } from '../../src/canvas/picture/picture.js';
import { ERROR_CODES, type ErrorCode } from '../../src/errors.js';
import { Button } from '../parts/button.js';
import { CopyButton } from '../parts/copy-button.js';
import type { AgentDetail } from '../run/agent-detail.js';
import type { RunStore } from '../run/run-store.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import { endingStep } from '../trace/steps.js';
import { useWhereText } from '../trace/where-text.js';
import { adviceFor } from './advice.js';
import { duration } from './duration.js';
import { reportOf } from './report.js';
import style from './turn.module.css';

const texts = defineTexts({
  en: {
    running: 'Working',
    stopping: 'Stopping …',
    stopped: (time: string) => `Stopped after ${time}.`,
    cut: (names: string) => `Cut off: ${names}.`,
    none: 'Nothing was at work.',
    failed: 'The run failed',
    at: (name: string, where: string) => (where === '' ? `in ${name}` : `in ${where} › ${name}`),
    step: 'Show the step',
    took: (time: string) => `took ${time}`,
    tokens: (count: number) => `${count} tokens`,
    recovered: 'The server was lost meanwhile; the run went on from where it stood.',
    report: 'Copy as a report',
    again: 'Try again from there',
    goOn: 'Go on from there',
    silent: 'The run ended without saying anything.',
  },
  zh: {
    running: '运行中',
    stopping: '正在停止…',
    stopped: (time: string) => `已在 ${time} 后停止。`,
    cut: (names: string) => `被中断：${names}。`,
    none: '当时没有节点在运行。',
    failed: '运行失败',
    at: (name: string, where: string) => (where === '' ? `位于 ${name}` : `位于 ${where} › ${name}`),
    step: '显示该步骤',
    took: (time: string) => `用时 ${time}`,
    tokens: (count: number) => `${count} 个 token`,
    recovered: '期间服务器中断；运行已从中断处继续。',
    report: '复制为报告',
    again: '从此处重试',
    goOn: '从此处继续',
    silent: '运行结束，没有任何输出。',
  },
});

export interface RunEndProps {
  readonly picture: RunPicture;
  readonly store: RunStore;
  readonly agent: Pick<AgentDetail, 'id' | 'title'>;
  readonly isLast: boolean;
  /** Goes on where the run ended; undefined where runs cannot be gone on with. */
  readonly onResume: (() => void) | undefined;
  /** Shows what a step did; undefined where nothing does. */
  readonly onStep?: ((step: ActivationPicture) => void) | undefined;
}

export function RunEnd({ picture, store, agent, isLast, onResume, onStep }: RunEndProps) {
  const words = useTexts(texts);
  const { status, error, elapsedMs = 0, usage, recoveries, answer, startedAtMs } = picture;
  const isAtWork = status === 'running' || status === 'stopping';
  if (picture.lastSeq === 0) return null;
  return (
    <>
      {recoveries > 0 && <p className={style.soft}>{words.recovered}</p>}
      {error !== undefined && status === 'failed' && <Failure error={error} picture={picture} onStep={onStep} />}
      {status === 'cancelled' && <p className={style.stopped}>{stoppedText(words, picture)}</p>}
      {status === 'succeeded' && answer.parts.length === 0 && <p className={style.soft}>{words.silent}</p>}
      <p className={style.facts}>
        {isAtWork && (
          <span className={style.working}>
            {status === 'stopping' ? words.stopping : words.running} <Clock since={startedAtMs} />
          </span>
        )}
        {isLast && onResume !== undefined && (status === 'failed' || status === 'cancelled') && (
          <Button onClick={onResume}>
            <RotateCw size={14} aria-hidden="true" />
            {status === 'failed' ? words.again : words.goOn}
          </Button>
        )}
        {(status === 'succeeded' || status === 'failed') && <span>{words.took(duration(elapsedMs))}</span>}
        {usage.totalTokens > 0 && <span>{words.tokens(usage.totalTokens)}</span>}
        {!isAtWork && status !== 'waiting' && <CopyButton label={words.report} text={() => reportOf(store, agent)} />}
      </p>
    </>
  );
}

type Words = (typeof texts)['en'];

function stoppedText(words: Words, { nodes, elapsedMs = 0 }: RunPicture): string {
  const cut = [...nodes.values()].filter(({ status }) => status === 'stopped').map(({ id, name = id }) => name);
  return `${words.stopped(duration(elapsedMs))} ${cut.length === 0 ? words.none : words.cut(cut.join(', '))}`;
}

interface FailureProps extends Pick<RunEndProps, 'picture' | 'onStep'> {
  readonly error: NonNullable<RunPicture['error']>;
}

function Failure({ error, picture, onStep }: FailureProps) {
  const words = useTexts(texts);
  const advice = useTexts(adviceFor(error.code));
  const { code, message, node } = error;
  const known = Object.hasOwn(ERROR_CODES, code) ? ERROR_CODES[code as ErrorCode].summary : undefined;
  const nameOf = (id: string): string => picture.nodes.get(id)?.name || id;
  const whereOf = useWhereText(nameOf);
  const step = endingStep(picture);
  const name = step?.node ?? node;
  const place = name === undefined ? '' : words.at(nameOf(name), whereOf(step?.within));
  return (
    <div role="alert" className={style.failure}>
      <p className={style.failureTitle}>
        <CircleAlert size={16} aria-hidden="true" />
        {words.failed} {place} <code>{code}</code>
      </p>
      {known !== undefined && known !== message && <p>{known}</p>}
      <p className={style.cause}>{message}</p>
      {advice !== '' && <p className={style.soft}>{advice}</p>}
      {step !== undefined && onStep !== undefined && (
        <Button className={style.step} onClick={() => onStep(step)}>
          <Search size={14} aria-hidden="true" />
          {words.step}
        </Button>
      )}
    </div>
  );
}

/** Seconds since a moment, while it is shown. */
function Clock({ since }: { readonly since: number | undefined }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  // Clocks of two machines differ: less than nothing is nothing.
  return since === undefined ? null : (
    <span aria-hidden="true">{Math.max(0, Math.round((now - since) / 1_000))} s</span>
  );
}
