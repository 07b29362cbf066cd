/** Datasets to choose from. */
import { DatasetChecks, type DatasetChecksProps } from '../datasets/dataset-checks.js';
import { useTexts } from '../shell/texts.js';
import style from './evaluation.module.css';
import { evaluationTexts } from './evaluation-texts.js';

export interface DatasetBoxesProps extends DatasetChecksProps {
  readonly legend: string;
}

export function DatasetBoxes({ legend, datasets, chosen, onChange }: DatasetBoxesProps) {
  const words = useTexts(evaluationTexts);
  return (
    <fieldset className={style.datasets}>
      <legend>{legend}</legend>
      {datasets.length === 0 && <p className={style.soft}>{words.noDatasets}</p>}
      <DatasetChecks datasets={datasets} chosen={chosen} onChange={onChange} />
    </fieldset>
  );
}
