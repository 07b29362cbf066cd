/** Measures the search of one's datasets, or the answers of a chat, with a file of golden questions; what comes of it is one of the two results. */
import { useState } from 'react';
import { useTexts } from '../shell/texts.js';
import { AnswerMeasurement } from './answer-measurement.js';
import style from './evaluation.module.css';
import { evaluationTexts } from './evaluation-texts.js';
import { GoldenButton } from './golden-button.js';
import { readGoldenLines } from './in-parts.js';
import { SearchMeasurement } from './search-measurement.js';
import { type GoldenFile, type MeasurementProps, useMeasurement } from './use-measurement.js';

export interface MeasureSectionProps extends Pick<MeasurementProps, 'slot' | 'onResult'> {
  /** What the server has of it. */
  readonly kinds: readonly Kind[];
}

export type Kind = 'search' | 'answers';

export function MeasureSection({ slot, kinds, onResult }: MeasureSectionProps) {
  const words = useTexts(evaluationTexts);
  const [file, setFile] = useState<GoldenFile>();
  const [chosen, setChosen] = useState<Kind>();
  const measurement = useMeasurement();
  const kind = chosen ?? kinds[0];
  const open = async (opened: File) => {
    const questions = readGoldenLines(await opened.text());
    if (questions === undefined) measurement.refuse(new Error(words.noGolden(opened.name)));
    else setFile({ name: opened.name, questions });
  };
  const parts = { file, slot, measurement, onResult };
  return (
    <section className={style.measurement} aria-label={words.measureTitle}>
      <h2>{words.measureTitle}</h2>
      <div className={style.tools}>
        <label>
          {words.measured}{' '}
          <select
            value={kind}
            disabled={measurement.progress !== undefined}
            onChange={({ target }) => setChosen(kinds.find((one) => one === target.value))}
          >
            {kinds.map((one) => (
              <option key={one} value={one}>
                {words.kinds[one]}
              </option>
            ))}
          </select>
        </label>
        <GoldenButton name={file?.name} count={file?.questions.length ?? 0} onOpen={(opened) => void open(opened)} />
      </div>
      {kind === 'search' ? <SearchMeasurement {...parts} /> : <AnswerMeasurement {...parts} />}
    </section>
  );
}
