/** The model whose vectors a dataset is searched with. */
import { useId } from 'react';
import type { ModelList } from '../../src/transport/models/model-shapes.js';
import { useModelList } from '../parts/use-model-list.js';
import { useTexts } from '../shell/texts.js';
import { settingsTexts } from './settings-texts.js';

/** Left out where the server has none to choose from. */
export function EmbeddingChoice({ chosen }: { readonly chosen: string }) {
  const words = useTexts(settingsTexts);
  const field = useId();
  const { data } = useModelList();
  const models = (data?.models ?? []).filter(({ kinds }) => kinds.includes('embedding')).map(namedModel);
  if (models.length === 0) return null;
  return (
    <>
      <label htmlFor={field}>{words.model}</label>
      <select id={field} name="model" defaultValue={chosen}>
        {chosen === '' && <option value="">{words.noModel}</option>}
        {[...new Set([...(chosen === '' ? [] : [chosen]), ...models])].map((model) => (
          <option key={model} value={model}>
            {model}
          </option>
        ))}
      </select>
    </>
  );
}

/** Datasets name a model with its provider. */
function namedModel({ id, provider }: ModelList['models'][number]): string {
  return id.includes('@') ? id : `${id}@${provider}`;
}
