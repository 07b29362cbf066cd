/** A model of those that the server names, or any other. */
import { useState } from 'react';
import type { ListedModel } from '../../../src/transport/models/model-shapes.js';
import { Button } from '../../parts/button.js';
import { useTexts } from '../../shell/texts.js';
import { useModels } from '../model/use-models.js';
import { fieldTexts } from './field-texts.js';
import style from './form.module.css';
import type { WidgetProps } from './widget.js';

const KINDS: Readonly<Record<string, ListedModel['kinds'][number]>> = {
  llm_id: 'chat',
  rerank_id: 'rerank',
  embd_id: 'embedding',
  embedding_id: 'embedding',
  tts_id: 'tts',
};

const OTHER = '\u0000other';

export function ModelWidget({ field, id, value, onChange }: WidgetProps) {
  const words = useTexts(fieldTexts);
  const models = useModels();
  const [isWritten, setIsWritten] = useState(false);
  const wanted = KINDS[field.name];
  const fitting = models.filter(({ kinds }) => wanted === undefined || kinds.length === 0 || kinds.includes(wanted));
  const text = typeof value === 'string' ? value : '';
  if (isWritten) {
    return (
      <span className={style.secret}>
        <input id={id} value={text} onChange={(event) => onChange(event.target.value)} />
        <Button onClick={() => setIsWritten(false)}>{words.keep}</Button>
      </span>
    );
  }
  const choose = (next: string) => {
    if (next === OTHER) setIsWritten(true);
    else onChange(next === '' && !field.isRequired ? undefined : next);
  };
  const providers = [...new Set(fitting.map(({ provider }) => provider))];
  const isKnown = text === '' || fitting.some((one) => one.id === text);
  return (
    <select id={id} value={text} onChange={(event) => choose(event.target.value)}>
      <option value="">{words.default}</option>
      {!isKnown && <option value={text}>{text}</option>}
      {providers.map((provider) => (
        <optgroup key={provider} label={provider}>
          {fitting
            .filter((one) => one.provider === provider)
            .map((one) => (
              <option key={one.id} value={one.id}>
                {one.id}
              </option>
            ))}
        </optgroup>
      ))}
      <option value={OTHER}>{words.other}</option>
    </select>
  );
}
