/** Asks a graph: the kind of search, a question, or the two ends of a way. */
import { Search } from 'lucide-react';
import { type FormEvent, useId, useState } from 'react';
import { Button } from '../parts/button.js';
import { useTexts } from '../shell/texts.js';
import style from './graph.module.css';
import { type GraphQuestion, isAsked, SEARCH_KINDS } from './graph-address.js';
import { questionTexts } from './question-texts.js';

type Change = Readonly<Record<string, string | undefined>>;

interface QuestionFormProps {
  readonly asked: GraphQuestion;
  /** Names that are offered as ends of a way. */
  readonly names: readonly string[];
  readonly isBusy: boolean;
  readonly onAsk: (change: Change) => void;
}

/** Names that a browser is given to complete. */
const MAX_NAMES = 200;
const MAX_NAME = 120;

export function QuestionForm({ asked, names, isBusy, onAsk }: QuestionFormProps) {
  const words = useTexts(questionTexts);
  const field = useId();
  const [kind, setKind] = useState(asked.kind);
  const ask = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string): string | undefined => String(form.get(name) ?? '').trim() || undefined;
    onAsk({
      kind: kind === 'local' ? undefined : kind,
      q: text('q'),
      from: text('from'),
      to: text('to'),
      way: undefined,
    });
  };
  return (
    <search>
      <form className={style.form} onSubmit={ask}>
        <label htmlFor={`${field}kind`}>{words.kind}</label>
        <select
          id={`${field}kind`}
          value={kind}
          onChange={({ target }) => setKind(SEARCH_KINDS.find((one) => one === target.value) ?? 'local')}
        >
          {SEARCH_KINDS.map((one) => (
            <option key={one} value={one}>
              {words.kinds[one]}
            </option>
          ))}
        </select>
        {kind === 'path' ? (
          (['from', 'to'] as const).map((end) => (
            <span key={end} className={`${style.line} ${style.wide}`}>
              <label htmlFor={field + end}>{words[end]}</label>
              <input
                id={field + end}
                name={end}
                list={`${field}names`}
                className={`${style.field} ${style.wide}`}
                defaultValue={asked[end]}
                required
              />
            </span>
          ))
        ) : (
          <input
            name="q"
            aria-label={words.question}
            placeholder={words.question}
            className={`${style.field} ${style.wide}`}
            defaultValue={asked.question}
            required
          />
        )}
        <datalist id={`${field}names`}>
          {names
            .filter((name) => name.length <= MAX_NAME)
            .slice(0, MAX_NAMES)
            .map((name) => (
              <option key={name} value={name} />
            ))}
        </datalist>
        <Button type="submit" look="main" disabled={isBusy}>
          <Search size={16} aria-hidden="true" /> {words.ask}
        </Button>
        {isAsked(asked) && <Button onClick={() => onAsk(NOTHING)}>{words.clear}</Button>}
      </form>
      <p className={style.hint}>{words.hints[kind]}</p>
    </search>
  );
}

const NOTHING = { kind: undefined, q: undefined, from: undefined, to: undefined, way: undefined };
