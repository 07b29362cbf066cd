/** Asks for a key when the server wants one. It stands over the page, so that nothing typed is lost; requests that waited go on. */
import { type FormEvent, useId, useState } from 'react';
import { Button } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { ErrorNote } from '../parts/notes.js';
import { useObservable } from '../parts/use-observable.js';
import style from './login.module.css';
import { useClient } from './studio.js';
import { defineTexts, useTexts } from './texts.js';

const texts = defineTexts({
  en: {
    title: 'This server needs a key',
    key: 'Key',
    keep: 'Keep on this device',
    enter: 'Enter',
    refused: 'The server does not take this key.',
  },
  zh: {
    title: '此服务器需要密钥',
    key: '密钥',
    keep: '保存在此设备上',
    enter: '进入',
    refused: '服务器不接受此密钥。',
  },
});

export function Login() {
  const { keys } = useClient();
  return useObservable(keys.isAsked$, false) ? <LoginDialog /> : null;
}

function LoginDialog() {
  const client = useClient();
  const words = useTexts(texts);
  const field = useId();
  const [error, setError] = useState<unknown>();
  const [isBusy, setIsBusy] = useState(false);
  const enter = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const key = String(form.get('key')).trim();
    setIsBusy(true);
    try {
      if (await client.accepts(key)) client.keys.accept(key, form.get('keep') === 'on');
      else setError(new Error(words.refused));
    } catch (failure) {
      setError(failure);
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <Dialog title={words.title}>
      <form onSubmit={(event) => void enter(event)} className={style.form}>
        <label htmlFor={field}>{words.key}</label>
        <input id={field} name="key" type="password" autoComplete="off" required />
        <label className={style.keep}>
          <input type="checkbox" name="keep" /> {words.keep}
        </label>
        {error !== undefined && <ErrorNote error={error} />}
        <Button type="submit" look="main" disabled={isBusy}>
          {words.enter}
        </Button>
      </form>
    </Dialog>
  );
}
