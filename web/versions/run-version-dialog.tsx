/** Starts a conversation with a version. */
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useId, useMemo, useState } from 'react';
import { useLocation } from 'wouter';
import { beginParams } from '../../src/dsl/introspect.js';
import { readDocument } from '../../src/dsl/read.js';
import type { JsonObject } from '../../src/json.js';
import { FormFields } from '../chat/form-fields.js';
import { type FieldValues, fieldsOf, givenValues, problemOf } from '../chat/form-model.js';
import { Button } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { ErrorNote } from '../parts/notes.js';
import { runAddress } from '../run/place.js';
import { startTurn } from '../run/start-turn.js';
import { useClient } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import type { VersionItem } from './version-data.js';
import style from './versions.module.css';
import { versionsTexts } from './versions-texts.js';

interface RunVersionDialogProps {
  readonly agent: string;
  readonly version: VersionItem;
  readonly dsl: JsonObject;
  readonly onClose: () => void;
}

export function RunVersionDialog({ agent, version, dsl, onClose }: RunVersionDialogProps) {
  const words = useTexts(versionsTexts);
  const client = useClient();
  const field = useId();
  const [, navigate] = useLocation();
  const [values, setValues] = useState<FieldValues>({});
  const [isChecked, setIsChecked] = useState(false);
  const fields = useMemo(() => {
    const { document } = readDocument(dsl);
    return fieldsOf((document && beginParams(document))?.inputs);
  }, [dsl]);
  const { mutate, isPending, error } = useMutation({
    mutationFn: (query: string) => {
      const inputs = fields.length === 0 ? {} : { inputs: givenValues(fields, values) };
      return startTurn(client, agent, { query, version: version.id, ...inputs });
    },
    onSuccess: (run) => navigate(runAddress(agent, run)),
  });
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setIsChecked(true);
    if (fields.some((one) => problemOf(one, values[one.key]) !== undefined)) return;
    mutate(String(new FormData(event.currentTarget).get('query')).trim());
  };
  return (
    <Dialog title={words.runTitle(version.title)} onClose={onClose}>
      <form className={style.form} onSubmit={send}>
        <FormFields
          agent={agent}
          fields={fields}
          values={values}
          onChange={(key, value) => setValues((now) => ({ ...now, [key]: value }))}
          isChecked={isChecked}
        />
        <label htmlFor={field}>{words.message}</label>
        <textarea id={field} name="query" rows={3} />
        {error !== null && <ErrorNote error={error} />}
        <div className={style.end}>
          <Button onClick={onClose}>{words.cancel}</Button>
          <Button type="submit" look="main" disabled={isPending}>
            {words.start}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
