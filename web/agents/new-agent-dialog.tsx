/** A new agent: empty, or from a canvas that comes with the server. */
import { type FormEvent, useId, useState } from 'react';
import { useLocation } from 'wouter';
import type { JsonObject } from '../../src/json.js';
import { Thumbnail } from '../canvas/thumbnail.js';
import { Button } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { FailureLine } from '../parts/failure-line.js';
import { ErrorNote } from '../parts/notes.js';
import { useClient } from '../shell/studio.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import { createAgent, useAgentsChanged, useTemplates } from './agent-data.js';
import { EMPTY_CANVAS } from './empty-canvas.js';
import style from './new-agent-dialog.module.css';

const texts = defineTexts({
  en: {
    title: 'New agent',
    name: 'Title',
    begin: 'Begin with',
    empty: 'Empty',
    emptyAbout: 'Begin and Message: it says back what it hears.',
    create: 'Create',
    cancel: 'Cancel',
  },
  zh: {
    title: '新建智能体',
    name: '标题',
    begin: '起点',
    empty: '空白',
    emptyAbout: '只有开始和消息：重复听到的内容。',
    create: '创建',
    cancel: '取消',
  },
});

export function NewAgentDialog({ onClose }: { readonly onClose: () => void }) {
  const words = useTexts(texts);
  const { data: templates = [], error: listError } = useTemplates();
  const [chosen, setChosen] = useState('');
  const { create, isBusy, error } = useCreate(onClose);
  const field = useId();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const title = String(new FormData(event.currentTarget).get('title')).trim();
    const template = templates.find(({ id }) => id === chosen);
    void create(title, template?.description.en, template?.dsl ?? EMPTY_CANVAS);
  };
  return (
    <Dialog title={words.title} onClose={onClose} isWide>
      <form onSubmit={submit} className={style.form}>
        <label htmlFor={field}>{words.name}</label>
        <input id={field} name="title" required maxLength={255} autoComplete="off" />
        <fieldset className={style.choices}>
          <legend>{words.begin}</legend>
          <Choice id="" {...{ chosen, setChosen }} title={words.empty} about={words.emptyAbout} dsl={EMPTY_CANVAS} />
          {templates.map(({ id, title, description, dsl }) => (
            <Choice
              key={id}
              id={id}
              {...{ chosen, setChosen }}
              title={title.en ?? id}
              about={description.en ?? ''}
              dsl={dsl}
            />
          ))}
        </fieldset>
        {listError !== null && <ErrorNote error={listError} />}
        {error !== undefined && <FailureLine error={error} />}
        <div className={style.actions}>
          <Button onClick={onClose}>{words.cancel}</Button>
          <Button type="submit" look="main" disabled={isBusy}>
            {words.create}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

interface ChoiceProps {
  readonly id: string;
  readonly chosen: string;
  readonly setChosen: (id: string) => void;
  readonly title: string;
  readonly about: string;
  readonly dsl: JsonObject;
}

function Choice({ id, chosen, setChosen, title, about, dsl }: ChoiceProps) {
  return (
    <label className={style.choice}>
      <input type="radio" name="begin" value={id} checked={chosen === id} onChange={() => setChosen(id)} />
      <span className={style.picture}>
        <Thumbnail document={dsl} />
      </span>
      <strong>{title}</strong>
      <span className={style.about}>{about}</span>
    </label>
  );
}

function useCreate(onDone: () => void) {
  const client = useClient();
  const changed = useAgentsChanged();
  const [, navigate] = useLocation();
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const create = async (title: string, description: string | undefined, dsl: JsonObject) => {
    setIsBusy(true);
    setError(undefined);
    try {
      const id = await createAgent(client, { title, description, dsl });
      changed();
      onDone();
      navigate(`/agents/${encodeURIComponent(id)}`);
    } catch (failure) {
      setError(failure);
    } finally {
      setIsBusy(false);
    }
  };
  return { create, isBusy, error };
}
