/** A form, or an approval, that a run waits for. */
import { type FormEvent, useMemo, useState } from 'react';
import type { QuestionPicture } from '../../src/canvas/picture/picture.js';
import type { Json } from '../../src/json.js';
import { Button } from '../parts/button.js';
import { Markdown } from '../parts/markdown.js';
import type { TurnInput } from '../run/start-turn.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import style from './form.module.css';
import { FormFields } from './form-fields.js';
import { type FieldValues, fieldsOf, givenValues, problemOf, suggestedOf } from './form-model.js';

const texts = defineTexts({
  en: {
    form: 'A form waits for you',
    approval: 'An approval waits for you',
    send: 'Send',
    allow: 'Allow',
    decline: 'Decline',
  },
  zh: { form: '有表单等待填写', approval: '有请求等待批准', send: '发送', allow: '允许', decline: '拒绝' },
});

export interface QuestionFormProps {
  readonly agent: string;
  readonly question: QuestionPicture;
  /** Gives whether the answer was taken. */
  readonly onAnswer: (input: TurnInput) => Promise<boolean>;
}

export function QuestionForm({ agent, question, onAnswer }: QuestionFormProps) {
  const words = useTexts(texts);
  const { payload, address, node } = question;
  const fields = useMemo(() => fieldsOf(payload.inputs), [payload]);
  const [values, setValues] = useState<FieldValues>(() => suggestedOf(fields));
  const [isChecked, setIsChecked] = useState(false);
  const [isBusy, setIsBusy] = useState(false);
  const isApproval = payload.kind === 'approval';
  const answer = async (given: FieldValues) => {
    setIsBusy(true);
    // Agents know the approvals they wait for by their id.
    await onAnswer({ query: '', inputs: { [isApproval ? node : address]: givenValues(fields, given) } });
    setIsBusy(false);
  };
  const send = (event: FormEvent) => {
    event.preventDefault();
    setIsChecked(true);
    if (fields.every((field) => problemOf(field, values[field.key]) === undefined)) void answer(values);
  };
  const decide = (decision: string) => void answer(Object.fromEntries(fields.map(({ key }) => [key, decision])));
  return (
    <form className={style.form} aria-label={isApproval ? words.approval : words.form} onSubmit={send} noValidate>
      {typeof payload.tips === 'string' && payload.tips !== '' && (
        <div className={style.tips}>
          <Markdown text={payload.tips} />
        </div>
      )}
      {isApproval && fields.length === 1 ? (
        <>
          <code className={style.tips}>{fields[0]?.title}</code>
          <div className={style.actions}>
            <Button look="main" disabled={isBusy} onClick={() => decide('allow')}>
              {words.allow}
            </Button>
            <Button disabled={isBusy} onClick={() => decide('decline')}>
              {words.decline}
            </Button>
          </div>
        </>
      ) : (
        <>
          <FormFields
            agent={agent}
            fields={fields}
            values={values}
            isChecked={isChecked}
            onChange={(key: string, value: Json | undefined) => setValues((now) => ({ ...now, [key]: value }))}
          />
          <div className={style.actions}>
            <Button type="submit" look="main" disabled={isBusy}>
              {words.send}
            </Button>
          </div>
        </>
      )}
    </form>
  );
}
