/** Datasets to choose from. */
import type { DatasetItem } from '../datasets/dataset-data.js';
import { useTexts } from '../shell/texts.js';
import style from './evaluation.module.css';
import { evaluationTexts } from './evaluation-texts.js';

export interface DatasetBoxesProps {
  readonly legend: string;
  readonly datasets: readonly DatasetItem[];
  /** Ids. */
  readonly chosen: readonly string[];
  readonly onChange: (ids: readonly string[]) => void;
}

export function DatasetBoxes({ legend, datasets, chosen, onChange }: DatasetBoxesProps) {
  const words = useTexts(evaluationTexts);
  return (
    <fieldset className={style.datasets}>
      <legend>{legend}</legend>
      {datasets.length === 0 && <p className={style.soft}>{words.noDatasets}</p>}
      {datasets.map(({ id, name }) => (
        <label key={id}>
          <input
            type="checkbox"
            checked={chosen.includes(id)}
            onChange={({ target }) =>
              onChange(target.checked ? [...chosen, id] : chosen.filter((other) => other !== id))
            }
          />{' '}
          {name}
        </label>
      ))}
    </fieldset>
  );
}
