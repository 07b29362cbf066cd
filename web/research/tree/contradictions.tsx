/** Statements that cannot both be right, each side with its source. */
import type { Finding } from '../../../src/research/deep/fold-research.js';
import type { ResearchEvidence } from '../../../src/research/evidence/evidence-table.js';
import { useTexts } from '../../shell/texts.js';
import style from '../research.module.css';
import type { ResearchShown } from '../research-picture.js';
import { EvidenceItem } from './evidence-item.js';
import { treeTexts } from './tree-texts.js';

/** Pairs that are shown. */
const MAX_PAIRS = 50;

export function Contradictions({ shown: { picture, final } }: { readonly shown: ResearchShown }) {
  const words = useTexts(treeTexts);
  const pairs = final?.contradictions ?? picture.contradictions;
  if (pairs.length === 0) return null;
  const evidence = new Map(picture.evidence.map((one) => [one.id, one]));
  const findings = new Map(picture.questions.flatMap(({ id, finding }) => (finding ? [[id, finding] as const] : [])));
  return (
    <section className={style.part} aria-label={words.contradictions}>
      <h2>{words.contradictions}</h2>
      <ul className={style.plain}>
        {pairs.slice(0, MAX_PAIRS).map(({ a, b, why }) => (
          <li key={`${a} ${b} ${why}`}>
            <p>{why}</p>
            {[a, b].map((id, at) => (
              <Side key={id} label={words.sides[at] ?? ''} evidence={evidence.get(id)} finding={findings.get(id)} />
            ))}
          </li>
        ))}
      </ul>
    </section>
  );
}

interface SideProps {
  readonly label: string;
  readonly evidence: ResearchEvidence | undefined;
  readonly finding: Finding | undefined;
}

/** Evidence, or a finding; nothing where the statement belongs to neither. */
function Side({ label, evidence, finding }: SideProps) {
  if (evidence === undefined && finding === undefined) return null;
  return (
    <section className={style.side} aria-label={label}>
      <strong>{label}</strong>
      {evidence !== undefined && <EvidenceItem evidence={evidence} />}
      {evidence === undefined && finding !== undefined && (
        <p>
          {finding.question} {finding.answer}
        </p>
      )}
    </section>
  );
}
