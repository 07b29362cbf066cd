/** What a step gave, each value in a field: another one in its place runs on from there. */
import { Pencil } from 'lucide-react';
import { type FormEvent, type KeyboardEvent, useId, useMemo, useState } from 'react';
import type { ActivationPicture } from '../../src/canvas/picture/picture.js';
import { Button, IconButton } from '../parts/button.js';
import { JsonView } from '../parts/json-view.js';
import { ErrorNote } from '../parts/notes.js';
import { useTexts } from '../shell/texts.js';
import { LongText } from '../trace/long-text.js';
import type { RunSource } from '../trace/run-source.js';
import { forkTexts } from './fork-texts.js';
import style from './output-fields.module.css';
import { useStartFork } from './use-start-fork.js';
import { changesOf, type Editable, type Edits, editables, textOf } from './value-edits.js';
import { ValueField } from './value-field.js';

export interface OutputFieldsProps {
  readonly store: RunSource;
  /** It has settled, with outputs. */
  readonly activation: ActivationPicture & { readonly endSeq: number };
}

const NO_EDITS: Edits = new Map();
/** Longer texts are shown, and changed where the run goes on from the event behind them. */
const MAX_FIELD_CHARACTERS = 20_000;

export function OutputFields({ store, activation: { node, outputs, endSeq } }: OutputFieldsProps) {
  const words = useTexts(forkTexts);
  const hint = useId();
  const values = useMemo(() => editables({ [node]: outputs ?? {} }, {}), [node, outputs]);
  const [edits, setEdits] = useState(NO_EDITS);
  const { broken, outputs: changed } = changesOf(values, edits);
  const { start, isBusy, error } = useStartFork(store);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (changed !== undefined && broken.length === 0) void start(endSeq, { outputs: changed });
  };
  return (
    <form className={style.fields} onSubmit={submit} onKeyDown={submitByKeys}>
      <p id={hint} className={style.hint}>
        {words.another}
      </p>
      {values.map((value) => (
        <OutputField
          key={value.key}
          value={value}
          text={edits.get(value.key)}
          isBroken={broken.includes(value.key)}
          hint={hint}
          onEdit={(text) => setEdits(new Map(edits).set(value.key, text))}
        />
      ))}
      {edits.size > 0 && (
        <div className={style.buttons}>
          <Button
            type="submit"
            look="main"
            disabled={isBusy || changed === undefined || broken.length > 0}
            title={words.keys}
          >
            {words.runOn}
          </Button>
          <Button onClick={() => setEdits(NO_EDITS)}>{words.leave}</Button>
        </div>
      )}
      {error !== undefined && <ErrorNote error={error} />}
    </form>
  );
}

/** Enter alone begins a new line. */
function submitByKeys(event: KeyboardEvent<HTMLFormElement>): void {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  event.currentTarget.requestSubmit();
}

interface OutputFieldProps {
  readonly value: Editable;
  /** Undefined while it is as it was. */
  readonly text: string | undefined;
  readonly isBroken: boolean;
  /** Id of what says what another value does. */
  readonly hint: string;
  readonly onEdit: (text: string) => void;
}

function OutputField({ value: { component, name, value }, text, isBroken, hint, onEdit }: OutputFieldProps) {
  const words = useTexts(forkTexts);
  const title = `${component}@${name}`;
  const before = textOf(value);
  const isTree = typeof value === 'object' && value !== null && text === undefined;
  const isLong = before.length > MAX_FIELD_CHARACTERS;
  return (
    <div className={style.field}>
      <div className={style.name}>
        <code>{title}</code>
        {isTree && !isLong && (
          <IconButton label={words.change(title)} onClick={() => onEdit(before)}>
            <Pencil size={14} aria-hidden="true" />
          </IconButton>
        )}
      </div>
      {isTree && <JsonView value={value} label={title} />}
      {!isTree && isLong && <LongText text={before} omitted={0} label={title} />}
      {!isTree && !isLong && (
        <ValueField title={title} text={text ?? before} isBroken={isBroken} describedBy={hint} onEdit={onEdit} />
      )}
    </div>
  );
}
