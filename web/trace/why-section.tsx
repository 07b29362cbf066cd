/** Why an activation came out as it did: the branch that was chosen, what was missing, the error and what to do about it. */
import type { ActivationPicture, NodePicture } from '../../src/canvas/picture/picture.js';
import { ERROR_CODES } from '../../src/errors.js';
import type { ErrorInfo } from '../../src/graph/events.js';
import { adviceFor } from '../chat/advice.js';
import { JsonView } from '../parts/json-view.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import style from './activation-details.module.css';

const texts = defineTexts({
  en: {
    chose: 'Went on with',
    choseNone: 'It chose none of its successors.',
    missing: 'Passed over, because these have no value',
    failed: 'Failed with',
    retried: (attempt: number, of: number | undefined) =>
      of === undefined ? `Try ${attempt}; it was tried again.` : `Try ${attempt} of ${of}; it was tried again.`,
    lastTry: (attempt: number, of: number | undefined) =>
      of === undefined ? `Try ${attempt}.` : `Try ${attempt} of ${of}.`,
    recovered: 'A default value stands in for this error',
    asks: 'Waits for an answer to',
  },
  zh: {
    chose: '接着执行',
    choseNone: '没有选择任何后继节点。',
    missing: '已跳过，因为这些节点没有值',
    failed: '失败原因',
    retried: (attempt: number, of: number | undefined) =>
      of === undefined ? `第 ${attempt} 次尝试；之后已重试。` : `第 ${attempt} 次尝试，共 ${of} 次；之后已重试。`,
    lastTry: (attempt: number, of: number | undefined) =>
      of === undefined ? `第 ${attempt} 次尝试。` : `第 ${attempt} 次尝试，共 ${of} 次。`,
    recovered: '此错误由默认值代替',
    asks: '等待回答',
  },
});

export interface WhySectionProps {
  readonly node: NodePicture;
  readonly activation: ActivationPicture;
  readonly nameOf: (id: string) => string;
}

export function WhySection({ node, activation, nameOf }: WhySectionProps) {
  const words = useTexts(texts);
  const { next, missing, error, recovered, question, status, attempt } = activation;
  const names = (ids: readonly string[]) => ids.map(nameOf).join(', ');
  return (
    <>
      {error !== undefined && (
        <section className={style.error} aria-label={words.failed}>
          <ErrorLines error={error} />
          {(status === 'retried' || attempt > 1) && (
            <p>{(status === 'retried' ? words.retried : words.lastTry)(attempt, node.attempts)}</p>
          )}
        </section>
      )}
      {recovered !== undefined && (
        <div className={style.why}>
          <strong>{words.recovered}</strong>
          <ErrorLines error={recovered} />
        </div>
      )}
      {missing !== undefined && (
        <p className={style.why}>
          <strong>{words.missing}:</strong> {names(missing)}
        </p>
      )}
      {next !== undefined && (
        <p className={style.why}>
          {next.length === 0 ? (
            words.choseNone
          ) : (
            <>
              <strong>{words.chose}:</strong> {names(next)}
            </>
          )}
        </p>
      )}
      {question !== undefined && (
        <div className={style.why}>
          <strong>{words.asks}</strong>
          <JsonView value={question} label={words.asks} />
        </div>
      )}
    </>
  );
}

/** The code says what happened in general; the message what failed, and what to do. */
function ErrorLines({ error: { code, message } }: { readonly error: ErrorInfo }) {
  const advice = useTexts(adviceFor(code));
  const known = Object.hasOwn(ERROR_CODES, code) ? ERROR_CODES[code] : undefined;
  return (
    <>
      <p>
        <code>{code}</code> {known?.summary}
      </p>
      <p className={style.message}>{message}</p>
      {advice !== '' && <p>{advice}</p>}
    </>
  );
}
