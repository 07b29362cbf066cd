/** A field for code and JSON. What colours it is loaded with the first one; until then, and where that fails, it is a plain field. */
import { useEffect, useRef, useState } from 'react';
import { defineTexts, useTexts } from '../../shell/texts.js';
import style from './code-field.module.css';
import type { CodeLanguage, CodeView, openCodeView } from './code-view.js';

const texts = defineTexts({
  en: { leave: 'Esc, then Tab leaves the field.' },
  zh: { leave: '按 Esc 再按 Tab 离开此字段。' },
});

export interface CodeFieldProps {
  /** Of the plain field, for its label. */
  readonly id?: string | undefined;
  readonly label: string | undefined;
  readonly language: CodeLanguage;
  /** Lines that it is high at least. */
  readonly rows: number;
  readonly value: string;
  readonly isInvalid?: boolean;
  readonly onChange: (value: string) => void;
  readonly onLeave?: () => void;
}

export function CodeField(props: CodeFieldProps) {
  const { id, label, language, rows, value, isInvalid = false, onChange, onLeave } = props;
  const open = useCodeView();
  const plain = useRef<HTMLTextAreaElement>(null);
  // A field that has the focus stays what it is until it is left.
  const [isPlain, setIsPlain] = useState(true);
  useEffect(() => {
    if (open !== undefined && document.activeElement !== plain.current) setIsPlain(false);
  }, [open]);
  if (open !== undefined && !isPlain) return <Coloured key={language} {...props} open={open} />;
  return (
    <textarea
      ref={plain}
      id={id}
      aria-label={label}
      aria-invalid={isInvalid}
      className={style.plain}
      data-language={language}
      rows={rows}
      spellCheck={false}
      value={value}
      onChange={(event) => onChange(event.target.value)}
      onBlur={() => {
        onLeave?.();
        if (open !== undefined) setIsPlain(false);
      }}
    />
  );
}

type Open = typeof openCodeView;

/** Undefined until it is loaded. */
function useCodeView(): Open | undefined {
  const [open, setOpen] = useState<{ readonly open: Open }>();
  useEffect(() => {
    let isGone = false;
    import('./code-view.js').then(
      (loaded) => {
        if (!isGone) setOpen({ open: loaded.openCodeView });
      },
      (error: unknown) => console.warn('code is shown without colours', error),
    );
    return () => {
      isGone = true;
    };
  }, []);
  return open?.open;
}

type ColouredProps = CodeFieldProps & { readonly open: Open };

/** One language only: `open` and `language` stay what they are. */
function Coloured({ open, label, language, rows, value, isInvalid = false, onChange, onLeave }: ColouredProps) {
  const words = useTexts(texts);
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<CodeView>(undefined);
  const newest = useRef({ onChange, onLeave, value });
  useEffect(() => {
    newest.current = { onChange, onLeave, value };
  });
  useEffect(() => {
    if (host.current === null) return undefined;
    const opened = open(host.current, {
      text: newest.current.value,
      language,
      onChange: (next) => newest.current.onChange(next),
      onLeave: () => newest.current.onLeave?.(),
    });
    view.current = opened;
    return () => opened.close();
  }, [open, language]);
  useEffect(() => view.current?.show(value), [value]);
  useEffect(
    () => view.current?.describe({ label: label ?? '', about: words.leave, isInvalid, rows }),
    [label, words, isInvalid, rows],
  );
  return (
    <div className={style.field}>
      <div ref={host} className={isInvalid ? `${style.host} ${style.invalid}` : style.host} data-code />
      <small className={style.hint} aria-hidden="true">
        {words.leave}
      </small>
    </div>
  );
}
