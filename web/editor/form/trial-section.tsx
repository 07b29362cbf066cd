/** One component alone, with the values that it read last, or others. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { FlaskConical } from 'lucide-react';
import { useId, useState } from 'react';
import type { DocumentComponent } from '../../../src/dsl/document.js';
import { type Json, type JsonObject, parseJson } from '../../../src/json.js';
import { Button } from '../../parts/button.js';
import { JsonView } from '../../parts/json-view.js';
import { ErrorNote, LoadingNote } from '../../parts/notes.js';
import { agentPath } from '../../run/paths.js';
import { useClient } from '../../shell/studio.js';
import { defineTexts, useTexts } from '../../shell/texts.js';
import { useEditor } from '../editor-context.js';
import { valueAt } from '../model/last-values.js';
import style from './inspector.module.css';

const texts = defineTexts({
  en: {
    title: 'Try it alone',
    open: 'Try this component',
    run: 'Run it',
    running: 'Running …',
    result: 'What it gave',
    nothing: 'It reads nothing.',
  },
  zh: {
    title: '单独试运行',
    open: '试运行此组件',
    run: '运行',
    running: '正在运行…',
    result: '输出结果',
    nothing: '它不读取任何值。',
  },
});

type TrialForm = Readonly<Record<string, { readonly name?: string; readonly type?: string }>>;

export function TrialSection({ component }: { readonly component: DocumentComponent }) {
  const words = useTexts(texts);
  const [isOpen, setIsOpen] = useState(false);
  return (
    <section className={style.section} aria-label={words.title}>
      <h3>{words.title}</h3>
      {isOpen ? (
        <Trial component={component} />
      ) : (
        <div>
          <Button onClick={() => setIsOpen(true)}>
            <FlaskConical size={15} aria-hidden="true" /> {words.open}
          </Button>
        </div>
      )}
    </section>
  );
}

/** The server tries what it has, so the draft is saved first. */
function Trial({ component: { id, params } }: { readonly component: DocumentComponent }) {
  const client = useClient();
  const { agent, flush, lastValues } = useEditor();
  const path = `${agentPath(agent)}/components/${encodeURIComponent(id)}`;
  const { data, error } = useQuery({
    queryKey: ['trial', agent, id, params],
    queryFn: async ({ signal }) => {
      await flush();
      const form = await client.call<TrialForm>(`${path}/input-form`, { signal });
      const last = await lastValues();
      return { form, last };
    },
    retry: false,
    gcTime: 0,
  });
  if (error !== null) return <ErrorNote error={error} />;
  if (data === undefined) return <LoadingNote />;
  const known = Object.fromEntries(
    Object.keys(data.form).map((key) => [key, data.last === undefined ? undefined : valueAt(data.last, key)]),
  );
  return <TrialFields key={Object.keys(data.form).join('\n')} path={path} form={data.form} known={known} />;
}

interface TrialFieldsProps {
  readonly path: string;
  readonly form: TrialForm;
  /** The last values; undefined where there is none. */
  readonly known: Readonly<Record<string, Json | undefined>>;
}

function TrialFields({ path, form, known }: TrialFieldsProps) {
  const words = useTexts(texts);
  const client = useClient();
  const id = useId();
  const { flush, unfinished } = useEditor();
  const nameOf = (key: string) => `${path} ${key}`;
  const [written, setTexts] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries(Object.keys(form).map((key) => [key, unfinished.get(nameOf(key)) ?? textOf(known[key])])),
  );
  const trial = useMutation({
    mutationFn: async () => {
      await flush();
      const params = Object.fromEntries(Object.entries(written).map(([key, text]) => [key, { value: givenIn(text) }]));
      return client.call<JsonObject>(`${path}/debug`, { method: 'POST', body: { params } });
    },
  });
  const change = (key: string, text: string) => {
    unfinished.set(nameOf(key), text);
    setTexts({ ...written, [key]: text });
  };
  return (
    <div className={style.trial}>
      {Object.keys(form).length === 0 && <p className={style.summary}>{words.nothing}</p>}
      {Object.entries(form).map(([key, { name }], at) => (
        <div key={key}>
          <label htmlFor={`${id}${at}`}>{name ?? key}</label>
          <textarea
            id={`${id}${at}`}
            rows={2}
            value={written[key] ?? ''}
            onChange={(event) => change(key, event.target.value)}
          />
        </div>
      ))}
      <div>
        <Button onClick={() => trial.mutate()} disabled={trial.isPending}>
          {trial.isPending ? words.running : words.run}
        </Button>
      </div>
      {trial.error !== null && <ErrorNote error={trial.error} />}
      {trial.data !== undefined && <JsonView value={trial.data} label={words.result} />}
    </div>
  );
}

function textOf(value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

/** JSON where it is an object or a list, else the text as it is written. */
function givenIn(text: string): Json {
  const value = parseJson(text);
  return typeof value === 'object' && value !== null ? value : text;
}
