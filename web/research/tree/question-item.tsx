/** A question of a research: how it stands, where was searched, what was read, the answer, and the questions that follow from it. */
import { useState } from 'react';
import type { Finding } from '../../../src/research/deep/fold-research.js';
import { useTexts } from '../../shell/texts.js';
import style from '../research.module.css';
import type { Steering } from '../use-steer.js';
import { EvidenceItem } from './evidence-item.js';
import { ItemTools } from './item-tools.js';
import { MarkTag } from './mark-tag.js';
import { SearchLine } from './search-line.js';
import type { TreeQuestion } from './tree-model.js';
import { treeTexts } from './tree-texts.js';

export interface QuestionItemProps extends TreeQuestion {
  readonly steering: Steering | undefined;
  /** It can be dropped, answered and moved to the front. */
  readonly canChange: boolean;
}

export function QuestionItem(props: QuestionItemProps) {
  const { question, mark, searched, evidence, children, steering, canChange } = props;
  const words = useTexts(treeTexts);
  const { id, text, round, dependsOn, status, finding } = question;
  const shown = finding?.question || text;
  const word = words.marks[mark];
  return (
    <li className={style.item} data-mark={mark} aria-label={words.named(shown, word)}>
      <div className={style.line}>
        <MarkTag mark={mark} word={word} />
        <span className={style.text}>{shown}</span>
        {canChange && status === 'open' && steering !== undefined && (
          <ItemTools id={id} text={text} steering={steering} />
        )}
      </div>
      <p className={style.facts}>
        <code>{id}</code>
        <span>{words.round(round)}</span>
        {dependsOn.length > 0 && <span>{words.waitsFor(dependsOn.join(', '))}</span>}
      </p>
      <SearchLine searched={searched} />
      {finding !== undefined && <FindingView finding={finding} />}
      <EvidenceFold evidence={evidence} supports={finding?.supported_by ?? []} steering={steering} />
      {children.length > 0 && (
        <ul className={style.tree}>
          {children.map((one) => (
            <QuestionItem key={one.question.id} {...one} steering={steering} canChange={canChange} />
          ))}
        </ul>
      )}
    </li>
  );
}

function FindingView({ finding: { answer, verdict, confidence } }: { readonly finding: Finding }) {
  const words = useTexts(treeTexts);
  if (answer === '') return <p className={style.soft}>{words.noAnswer}</p>;
  return (
    <p className={style.finding}>
      <span className="unseen">{words.answer}: </span>
      {answer}{' '}
      <span className={style.soft}>
        {words.verdicts[verdict] ?? verdict} · {words.confidence(Math.round(confidence * 100))}
      </span>
    </p>
  );
}

interface EvidenceFoldProps extends Pick<TreeQuestion, 'evidence'> {
  /** Ids. */
  readonly supports: readonly string[];
  readonly steering: Steering | undefined;
}

/** Drawn when it is opened: a question may have read many texts. */
function EvidenceFold({ evidence, supports, steering }: EvidenceFoldProps) {
  const words = useTexts(treeTexts);
  const [isOpen, setIsOpen] = useState(false);
  if (evidence.length === 0) return null;
  const exclude = steering && ((source: string) => void steering.steer({ action: 'exclude', source }));
  return (
    <details onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>{words.evidence(evidence.length)}</summary>
      {isOpen &&
        evidence.map((one) => (
          <EvidenceItem key={one.id} evidence={one} isSupport={supports.includes(one.id)} onExclude={exclude} />
        ))}
    </details>
  );
}
