/** What a research asks before it is planned. */
import { useState } from 'react';
import type { ClarifyForm } from '../../src/research/research-events.js';
import { Button } from '../parts/button.js';
import { useTexts } from '../shell/texts.js';
import style from './research.module.css';
import { screenTexts } from './screen-texts.js';
import type { Steering } from './use-steer.js';

/** Characters that the server takes of one answer. */
const MAX_ANSWER = 2_000;

export interface ClarifyQuestionsProps {
  readonly form: ClarifyForm;
  readonly steering: Steering;
}

export function ClarifyQuestions({ form: { questions }, steering }: ClarifyQuestionsProps) {
  const words = useTexts(screenTexts);
  const [answers, setAnswers] = useState<ReadonlyMap<string, string>>(
    () => new Map(questions.map((one) => [one.id, one.default])),
  );
  const send = () => {
    const given = [...answers].filter(([, answer]) => answer.trim() !== '');
    void steering.steer({ action: 'clarify', answers: Object.fromEntries(given) });
  };
  return (
    <form
      className={style.clarify}
      aria-label={words.clarify}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <h2>{words.clarify}</h2>
      <p>{words.clarifyHint}</p>
      {questions.map(({ id, question }) => (
        <label key={id} className={style.field}>
          {question}
          <input
            maxLength={MAX_ANSWER}
            value={answers.get(id) ?? ''}
            onChange={({ target }) => setAnswers((now) => new Map(now).set(id, target.value))}
          />
        </label>
      ))}
      <Button type="submit" look="main" disabled={steering.isBusy}>
        {words.clarifySend}
      </Button>
    </form>
  );
}
