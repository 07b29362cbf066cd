/** A new dataset: its name, and how its documents are cut. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { useLocation } from 'wouter';
import { Button } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { ErrorNote } from '../parts/notes.js';
import { useClient } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import { type DatasetItem, datasetAddress } from './dataset-data.js';
import style from './datasets.module.css';
import { datasetsTexts } from './datasets-texts.js';
import { MethodChoice } from './method-choice.js';

export function NewDatasetDialog({ onClose }: { readonly onClose: () => void }) {
  const words = useTexts(datasetsTexts);
  const client = useClient();
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const field = useId();
  const [method, setMethod] = useState('naive');
  const { mutate, isPending, error } = useMutation({
    mutationFn: (body: object) => client.call<DatasetItem>('/datasets', { method: 'POST', body }),
    onSuccess: ({ id }) => {
      void queries.invalidateQueries({ queryKey: ['datasets', 'list'] });
      onClose();
      navigate(datasetAddress(id));
    },
  });
  const create = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    mutate({
      name: String(form.get('name')).trim(),
      description: String(form.get('about')).trim(),
      chunk_method: method,
    });
  };
  return (
    <Dialog title={words.create} onClose={onClose}>
      <form className={style.form} onSubmit={create}>
        <label htmlFor={`${field}n`}>{words.name}</label>
        <input id={`${field}n`} name="name" required maxLength={128} autoComplete="off" />
        <label htmlFor={`${field}d`}>{words.description}</label>
        <input id={`${field}d`} name="about" autoComplete="off" />
        <MethodChoice method={method} onChange={setMethod} />
        {error !== null && <ErrorNote error={error} />}
        <div className={style.buttons}>
          <Button type="submit" look="main" disabled={isPending}>
            {words.create}
          </Button>
          <Button onClick={onClose}>{words.cancel}</Button>
        </div>
      </form>
    </Dialog>
  );
}
