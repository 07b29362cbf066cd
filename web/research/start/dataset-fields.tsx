/** Which datasets are searched. */
import { DatasetChecks } from '../../datasets/dataset-checks.js';
import { useDatasets } from '../../datasets/dataset-data.js';
import { useTexts } from '../../shell/texts.js';
import style from '../research.module.css';
import { startTexts } from './start-texts.js';

export interface DatasetFieldsProps {
  /** Ids. */
  readonly chosen: readonly string[];
  readonly onChange: (ids: readonly string[]) => void;
}

export function DatasetFields({ chosen, onChange }: DatasetFieldsProps) {
  const words = useTexts(startTexts);
  const { data } = useDatasets('');
  const datasets = data?.pages.flat() ?? [];
  return (
    <fieldset className={style.checks}>
      <legend>{words.datasets}</legend>
      {data !== undefined && datasets.length === 0 && <p className={style.soft}>{words.noDatasets}</p>}
      <DatasetChecks datasets={datasets} chosen={chosen} onChange={onChange} />
    </fieldset>
  );
}
