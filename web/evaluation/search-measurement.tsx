/** What a measurement of the search of datasets is made with. */
import { useState } from 'react';
import { useDatasets } from '../datasets/dataset-data.js';
import { useClient } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import { DatasetBoxes } from './dataset-boxes.js';
import style from './evaluation.module.css';
import { evaluationTexts } from './evaluation-texts.js';
import { asResultFile, measureSearch } from './measure-search.js';
import { StartMeasurement } from './start-measurement.js';
import type { MeasurementProps } from './use-measurement.js';

const PASSAGES = [3, 5, 8, 15, 30];
const USUAL_PASSAGES = 8;

export function SearchMeasurement({ file, slot, measurement, onResult }: MeasurementProps) {
  const words = useTexts(evaluationTexts);
  const client = useClient();
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [passages, setPassages] = useState(USUAL_PASSAGES);
  const datasets = useDatasets('').data?.pages.flat() ?? [];
  const names = datasets.filter(({ id }) => chosen.includes(id)).map(({ name }) => name);
  const measure = () => {
    if (file === undefined) return;
    const { name, questions } = file;
    const about = words.measuredSearch(names.join(', '), passages);
    measurement.start(measureSearch(client, { questions, datasets: chosen, passages }), questions.length, (measured) =>
      onResult(slot, name, asResultFile(about, measured)),
    );
  };
  return (
    <>
      <p className={style.soft}>{words.searchHint}</p>
      <div className={style.tools}>
        <label>
          {words.passages}{' '}
          <select value={passages} onChange={({ target }) => setPassages(Number(target.value))}>
            {PASSAGES.map((count) => (
              <option key={count}>{count}</option>
            ))}
          </select>
        </label>
      </div>
      <DatasetBoxes legend={words.datasets} datasets={datasets} chosen={chosen} onChange={setChosen} />
      <StartMeasurement
        slot={slot}
        measurement={measurement}
        canStart={file !== undefined && chosen.length > 0}
        onStart={measure}
      />
    </>
  );
}
