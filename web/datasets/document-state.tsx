/** How a document stands: waiting, at which step, searchable, failed and why, and what to do. */
import { useTexts } from '../shell/texts.js';
import type { DocumentItem, RunState } from './dataset-data.js';
import style from './datasets.module.css';
import { datasetsTexts } from './datasets-texts.js';
import state from './document-state.module.css';
import { documentsTexts } from './documents-texts.js';
import type { DocumentProgress } from './ingestion-feed.js';

const LOOKS: Readonly<Record<RunState, string | undefined>> = {
  UNSTART: style.resting,
  RUNNING: style.running,
  CANCEL: style.stopped,
  DONE: style.done,
  FAIL: style.failed,
};

export interface DocumentStateProps {
  readonly document: DocumentItem;
  readonly progress: DocumentProgress | undefined;
}

export function DocumentState({ document, progress }: DocumentStateProps) {
  const { states } = useTexts(datasetsTexts);
  const { run } = document;
  return (
    <div className={state.state}>
      <span className={`${style.state} ${LOOKS[run]}`}>{states[run]}</span>
      {run === 'RUNNING' && <Working document={document} progress={progress} />}
      {run === 'FAIL' && <Failure document={document} />}
    </div>
  );
}

function Working({ document: { name, progress: stored }, progress }: DocumentStateProps) {
  const words = useTexts(documentsTexts);
  const share = progress?.run === 'RUNNING' ? progress.progress : stored;
  const step = progress?.run === 'RUNNING' ? progress.step : '';
  return (
    <>
      <progress value={Math.max(0, share)} aria-label={words.progress(name)} />
      <span className={state.step}>{step === '' && share <= 0 ? words.waits : (words.steps[step] ?? step)}</span>
    </>
  );
}

function Failure({ document: { progress_msg: log } }: Pick<DocumentStateProps, 'document'>) {
  const words = useTexts(documentsTexts);
  const lines = log.split('\n').filter((line) => line.trim() !== '');
  return (
    <details className={state.failure}>
      <summary>{lines.at(-1)?.replace(/^\d\d:\d\d:\d\d\s*/, '') ?? words.log}</summary>
      <p>{words.advice}</p>
      <pre>{log}</pre>
    </details>
  );
}
