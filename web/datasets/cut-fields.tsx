/** The fields that say how documents are cut: those of the chosen method. */
import { useId } from 'react';
import { useTexts } from '../shell/texts.js';
import style from './datasets.module.css';
import { MethodChoice } from './method-choice.js';
import { type CutSettings, joinsPieces } from './settings-data.js';
import { settingsTexts } from './settings-texts.js';

interface CutFieldsProps {
  readonly cut: CutSettings;
  readonly onChange: (change: Partial<CutSettings>) => void;
}

export function CutFields({ cut, onChange }: CutFieldsProps) {
  const words = useTexts(settingsTexts);
  return (
    <>
      <MethodChoice method={cut.method} onChange={(method) => onChange({ method })} />
      {joinsPieces(cut.method) && <PieceFields cut={cut} onChange={onChange} />}
      <label className={style.check}>
        <input
          type="checkbox"
          checked={cut.followsLayout}
          onChange={({ target }) => onChange({ followsLayout: target.checked })}
        />
        {words.layout}
      </label>
      <NumberField
        label={words.keywords}
        value={cut.keywords}
        max={32}
        onChange={(keywords) => onChange({ keywords })}
      />
      <NumberField
        label={words.questions}
        value={cut.questions}
        max={10}
        onChange={(questions) => onChange({ questions })}
      />
    </>
  );
}

function PieceFields({ cut, onChange }: CutFieldsProps) {
  const words = useTexts(settingsTexts);
  const field = useId();
  return (
    <>
      <NumberField
        label={words.tokens}
        value={cut.tokens}
        min={1}
        max={2_048}
        onChange={(tokens) => onChange({ tokens })}
      />
      <label htmlFor={`${field}d`}>{words.delimiter}</label>
      <input
        id={`${field}d`}
        value={cut.delimiter}
        required
        aria-describedby={`${field}h`}
        onChange={({ target }) => onChange({ delimiter: target.value })}
      />
      <p id={`${field}h`} className={style.hint}>
        {words.delimiterHint}
      </p>
      <NumberField label={words.overlap} value={cut.overlap} max={90} onChange={(overlap) => onChange({ overlap })} />
      <label className={style.check}>
        <input
          type="checkbox"
          checked={cut.hasChildren}
          onChange={({ target }) => onChange({ hasChildren: target.checked })}
        />
        {words.children}
      </label>
      {cut.hasChildren && (
        <>
          <label htmlFor={`${field}c`}>{words.childDelimiter}</label>
          <input
            id={`${field}c`}
            value={cut.childDelimiter}
            required
            onChange={({ target }) => onChange({ childDelimiter: target.value })}
          />
        </>
      )}
    </>
  );
}

interface NumberFieldProps {
  readonly label: string;
  readonly value: number;
  /** @default 0 */
  readonly min?: number;
  readonly max: number;
  readonly onChange: (value: number) => void;
}

function NumberField({ label, value, min = 0, max, onChange }: NumberFieldProps) {
  const field = useId();
  return (
    <>
      <label htmlFor={field}>{label}</label>
      <input
        id={field}
        type="number"
        min={min}
        max={max}
        required
        value={Number.isNaN(value) ? '' : value}
        onChange={({ target }) => onChange(target.valueAsNumber)}
      />
    </>
  );
}
