/** Settings of a dataset: what it is called, and how its documents are cut. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { Button } from '../parts/button.js';
import { ErrorNote } from '../parts/notes.js';
import { useClient } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import { CutFields } from './cut-fields.js';
import { type DatasetItem, datasetPath, refreshDataset } from './dataset-data.js';
import panel from './dataset-settings.module.css';
import style from './datasets.module.css';
import { datasetsTexts } from './datasets-texts.js';
import { EmbeddingChoice } from './embedding-choice.js';
import { applyCut, cutBody, type Refused, readCut } from './settings-data.js';
import { settingsTexts } from './settings-texts.js';

export function DatasetSettings({ dataset }: { readonly dataset: DatasetItem }) {
  const words = useTexts(settingsTexts);
  const common = useTexts(datasetsTexts);
  const client = useClient();
  const queries = useQueryClient();
  const field = useId();
  const { id, document_count: documents, pipeline_id: pipeline } = dataset;
  const [cut, setCut] = useState(() => readCut(dataset));
  const [isApplied, setIsApplied] = useState(false);
  const [done, setDone] = useState<readonly [done: number, of: number]>();
  const { mutate, isPending, error, data } = useMutation({
    mutationFn: async (about: object): Promise<readonly Refused[]> => {
      const body = cutBody(cut);
      // What a pipeline does is not said by a method: naming one would take the pipeline away.
      const settings = pipeline === null ? body : {};
      await client.call(datasetPath(id), { method: 'PUT', body: { ...about, ...settings } });
      if (!isApplied) return [];
      return applyCut(client, id, body, (count, of) => setDone([count, of]));
    },
    onSettled: () => {
      setDone(undefined);
      return refreshDataset(queries, id);
    },
  });
  const save = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const model = form.get('model');
    mutate({
      name: String(form.get('name')).trim(),
      description: String(form.get('about')).trim(),
      ...(typeof model === 'string' && model !== '' && model !== dataset.embedding_model && { embedding_model: model }),
    });
  };
  return (
    <form className={`${style.form} ${panel.form}`} onSubmit={save}>
      <fieldset className={panel.group}>
        <legend>{words.about}</legend>
        <label htmlFor={`${field}n`}>{common.name}</label>
        <input id={`${field}n`} name="name" required maxLength={128} defaultValue={dataset.name} />
        <label htmlFor={`${field}d`}>{common.description}</label>
        <input id={`${field}d`} name="about" defaultValue={dataset.description ?? ''} />
        <EmbeddingChoice chosen={dataset.embedding_model} />
      </fieldset>
      <fieldset className={panel.group} disabled={pipeline !== null}>
        <legend>{words.cutting}</legend>
        {pipeline !== null && <p className={style.hint}>{words.pipeline}</p>}
        <CutFields cut={cut} onChange={(change) => setCut((now) => ({ ...now, ...change }))} />
        {documents > 0 && (
          <>
            <label className={style.check}>
              <input type="checkbox" checked={isApplied} onChange={({ target }) => setIsApplied(target.checked)} />
              {words.apply(documents)}
            </label>
            <p className={style.hint}>{words.applyHint}</p>
          </>
        )}
      </fieldset>
      {error !== null && <ErrorNote error={error} />}
      <RefusedList refused={data ?? []} />
      <div className={style.buttons}>
        <span role="status">
          {done !== undefined && words.applying(...done)}
          {data?.length === 0 && !isPending && words.saved}
        </span>
        <Button type="submit" look="main" disabled={isPending}>
          {common.save}
        </Button>
      </div>
    </form>
  );
}

function RefusedList({ refused }: { readonly refused: readonly Refused[] }) {
  const words = useTexts(settingsTexts);
  if (refused.length === 0) return null;
  return (
    <ul role="alert" className={panel.refused}>
      {refused.map(({ name, error }) => (
        <li key={name}>{words.failed(name, error instanceof Error ? error.message : String(error))}</li>
      ))}
    </ul>
  );
}
