/** The models that documents may name, and the providers that they come from. */
import type { ListedModel } from '../../src/transport/models/model-shapes.js';
import { ErrorNote } from '../parts/notes.js';
import { useModelList } from '../parts/use-model-list.js';
import { useTexts } from '../shell/texts.js';
import { Section } from './section.js';
import style from './settings.module.css';
import { settingsTexts } from './settings-texts.js';

export function ModelsSection() {
  const words = useTexts(settingsTexts);
  const { data, error, refetch } = useModelList();
  return (
    <Section title={words.models}>
      {error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {data?.scripted === true && <p className={style.soft}>{words.scripted}</p>}
      {data !== undefined && data.models.length > 0 && (
        <table className={style.table}>
          <thead>
            <tr>
              <th scope="col">{words.model}</th>
              <th scope="col">{words.provider}</th>
              <th scope="col">{words.kinds}</th>
              <th scope="col">{words.context}</th>
            </tr>
          </thead>
          <tbody>
            {data.models.map((model) => (
              <ModelLine key={model.id} model={model} />
            ))}
          </tbody>
        </table>
      )}
      {data !== undefined && data.providers.length > 0 && (
        <p className={style.soft}>
          {words.providers}:{' '}
          {data.providers
            .map(({ name, has_key: hasKey }) => `${name} (${hasKey ? words.withKey : words.withoutKey})`)
            .join(', ')}
        </p>
      )}
    </Section>
  );
}

function ModelLine({ model }: { readonly model: ListedModel }) {
  const words = useTexts(settingsTexts);
  const { id, provider, kinds, default_for: defaults, vision, context_length: length } = model;
  const uses = kinds.map((kind) => words.kindNames[kind] + (defaults.includes(kind) ? ` (${words.default})` : ''));
  return (
    <tr>
      <th scope="row">{id}</th>
      <td>{provider}</td>
      <td>{[...uses, ...(vision ? [words.vision] : [])].join(', ')}</td>
      <td>{length === null ? '' : length.toLocaleString()}</td>
    </tr>
  );
}
