/** Datasets to choose any number of. */
import type { DatasetItem } from './dataset-data.js';

export interface DatasetChecksProps {
  readonly datasets: readonly DatasetItem[];
  /** Ids. */
  readonly chosen: readonly string[];
  readonly onChange: (ids: readonly string[]) => void;
}

export function DatasetChecks({ datasets, chosen, onChange }: DatasetChecksProps) {
  return datasets.map(({ id, name }) => (
    <label key={id}>
      <input
        type="checkbox"
        checked={chosen.includes(id)}
        onChange={({ target }) => onChange(target.checked ? [...chosen, id] : chosen.filter((other) => other !== id))}
      />{' '}
      {name}
    </label>
  ));
}
