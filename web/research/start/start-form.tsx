/** Asks for a research. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Search } from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { Button } from '../../parts/button.js';
import { FailureLine } from '../../parts/failure-line.js';
import { useDraft } from '../../parts/use-draft.js';
import { useModelList } from '../../parts/use-model-list.js';
import { useClient } from '../../shell/studio.js';
import { useTexts } from '../../shell/texts.js';
import style from '../research.module.css';
import { beginResearch, researchAddress } from '../research-server.js';
import { BudgetFields } from './budget-fields.js';
import { DatasetFields } from './dataset-fields.js';
import { PlanFields } from './plan-fields.js';
import { DEPTHS, readSettings, requestOf, type StartSettings } from './start-settings.js';
import { startTexts } from './start-texts.js';

/** Filled with what the address says. */
export function StartForm({ query }: { readonly query: URLSearchParams }) {
  const words = useTexts(startTexts);
  const client = useClient();
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const [draft, keepDraft] = useDraft('research');
  const [question, setQuestion] = useState(() => query.get('question') ?? draft);
  const [settings, setSettings] = useState(() => readSettings(query));
  const { data: models } = useModelList();
  const set = (change: Partial<StartSettings>) => setSettings((now) => ({ ...now, ...change }));
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => beginResearch(client, question.trim(), requestOf(settings)),
    onSuccess: (run) => {
      keepDraft('');
      void queries.invalidateQueries({ queryKey: ['runs'] });
      navigate(researchAddress(run));
    },
  });
  return (
    <form
      className={style.start}
      aria-label={words.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (question.trim() !== '' && !isPending) mutate();
      }}
    >
      <p className={style.soft}>
        {words.hint} <Link href="/chat">{words.toChat}</Link>
      </p>
      <label className={style.field}>
        {words.question}
        <textarea
          rows={3}
          value={question}
          onChange={({ target }) => {
            setQuestion(target.value);
            keepDraft(target.value);
          }}
        />
      </label>
      <DatasetFields chosen={settings.datasets} onChange={(datasets) => set({ datasets })} />
      <div className={style.fields}>
        <label>
          {words.depth}{' '}
          <select
            value={settings.depth}
            onChange={({ target }) => set({ depth: DEPTHS.find((one) => one === target.value) ?? 'normal' })}
          >
            {DEPTHS.map((depth) => (
              <option key={depth} value={depth}>
                {words.depths[depth]}
              </option>
            ))}
          </select>
        </label>
        <ModelChoice chosen={settings.model} onChange={(model) => set({ model })} />
        <label>
          <input type="checkbox" checked={settings.web} onChange={({ target }) => set({ web: target.checked })} />{' '}
          {words.web}
        </label>
      </div>
      <PlanFields settings={settings} onChange={set} />
      <BudgetFields budget={settings.budget} onChange={(budget) => set({ budget })} />
      {models?.scripted === true && <p className={style.soft}>{words.scripted}</p>}
      {error !== null && <FailureLine error={error} />}
      <Button type="submit" look="main" disabled={isPending || question.trim() === ''}>
        <Search size={16} aria-hidden="true" /> {words.start}
      </Button>
    </form>
  );
}

interface ModelChoiceProps {
  /** Empty: the default. */
  readonly chosen: string;
  readonly onChange: (model: string) => void;
}

function ModelChoice({ chosen, onChange }: ModelChoiceProps) {
  const words = useTexts(startTexts);
  const { data } = useModelList();
  const known = (data?.models ?? []).filter(({ kinds }) => kinds.includes('chat')).map(({ id }) => id);
  const models = chosen === '' || known.includes(chosen) ? known : [...known, chosen];
  if (models.length < 2 && chosen === '') return null;
  return (
    <label>
      {words.model}{' '}
      <select value={chosen} onChange={({ target }) => onChange(target.value)}>
        <option value="">{words.anyModel}</option>
        {models.map((id) => (
          <option key={id} value={id}>
            {id}
          </option>
        ))}
      </select>
    </label>
  );
}
