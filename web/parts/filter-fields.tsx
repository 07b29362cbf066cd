/** Fields that narrow a list down. What they have stands in the address, which they change with every key. */
import { type ReactNode, useId } from 'react';
import style from './filter-fields.module.css';

/** The fields of a list, side by side. */
export function Filters({ children }: { readonly children: ReactNode }) {
  return <search className={style.filters}>{children}</search>;
}

interface FieldProps {
  readonly label: string;
  /** Empty: nothing is asked for. */
  readonly value: string | undefined;
  /** Receives undefined when nothing is asked for any more. */
  readonly onChange: (value: string | undefined) => void;
}

/** One of several; the children are options. */
export function ChoiceFilter({ label, value = '', onChange, children }: FieldProps & { readonly children: ReactNode }) {
  const field = useId();
  return (
    <span className={style.field}>
      <label htmlFor={field}>{label}</label>
      <select id={field} value={value} onChange={(event) => onChange(event.target.value || undefined)}>
        {children}
      </select>
    </span>
  );
}

interface TypedProps extends FieldProps {
  readonly type: 'search' | 'date' | 'number';
}

/** A text, a day as `2026-11-28`, or a number from 0. */
export function TypedFilter({ label, value = '', onChange, type }: TypedProps) {
  const field = useId();
  return (
    <span className={style.field}>
      <label htmlFor={field}>{label}</label>
      <input
        id={field}
        type={type}
        value={value}
        {...(type === 'number' ? { min: 0, step: 'any' } : {})}
        onChange={(event) => onChange(event.target.value || undefined)}
      />
    </span>
  );
}
