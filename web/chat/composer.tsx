/** Where the user writes: words, files, and what Begin asks for. Enter sends, Shift and Enter break the line. */
import { Paperclip, SendHorizontal, Square } from 'lucide-react';
import { type FormEvent, useRef, useState } from 'react';
import { NEVER } from 'rxjs';
import type { Json } from '../../src/json.js';
import { Button, IconButton } from '../parts/button.js';
import { ErrorNote } from '../parts/notes.js';
import { useDraft } from '../parts/use-draft.js';
import { useObservable } from '../parts/use-observable.js';
import { useUploads } from '../parts/use-uploads.js';
import { agentPath } from '../run/paths.js';
import type { RunStore } from '../run/run-store.js';
import type { TurnInput, UploadedFile } from '../run/start-turn.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import style from './composer.module.css';
import { FileList } from './file-drop.js';
import { FormFields } from './form-fields.js';
import { type FieldValues, type FormField, givenValues, problemOf, suggestedOf } from './form-model.js';
import { type Telling, useTell } from './use-telling.js';
import { Writing } from './writing.js';

const texts = defineTexts({
  en: {
    message: 'Message',
    hint: 'Ask something',
    send: 'Send',
    stop: 'Stop',
    attach: 'Attach files',
    inputs: 'Inputs',
    tell: 'Tell the agents while they work',
    none: 'Nothing can be told to this run: its canvas has no agent with tools.',
    over: 'Nothing can be told to this run any more: its agents are done.',
  },
  zh: {
    message: '消息',
    hint: '请输入问题',
    send: '发送',
    stop: '停止',
    attach: '添加文件',
    inputs: '输入项',
    tell: '在智能体工作时告诉它们',
    none: '无法向此次运行补充内容：画布中没有带工具的智能体。',
    over: '无法再向此次运行补充内容：智能体已完成。',
  },
});

export interface ComposerProps {
  readonly agent: string;
  /** Whether files go with a message. @default true */
  readonly takesFiles?: boolean;
  /** What Begin asks for. */
  readonly fields: readonly FormField[];
  readonly isBusy: boolean;
  /** The run of the last turn. */
  readonly store: RunStore | undefined;
  /** How the agents of that run are told something. @default they are not */
  readonly telling?: Telling | undefined;
  /** Gives whether it was taken. */
  readonly onSend: (input: TurnInput) => Promise<boolean>;
}

export function Composer({ agent, takesFiles = true, fields, isBusy, store, telling, onSend }: ComposerProps) {
  const words = useTexts(texts);
  const [text, setText] = useDraft(agent);
  const [values, setValues] = useState<FieldValues>(() => suggestedOf(fields));
  const [isChecked, setIsChecked] = useState(false);
  const [files, setFiles] = useState<readonly UploadedFile[]>([]);
  const uploads = useUploads<UploadedFile>(`${agentPath(agent)}/upload`, (file) => setFiles((now) => [...now, file]));
  const picker = useRef<HTMLInputElement>(null);
  const status = useObservable(store?.picture$ ?? NEVER, store?.picture)?.status;
  const isAtWork = status === 'running' || status === 'stopping';
  const isReady = text.trim() !== '' || files.length > 0 || fields.length > 0;
  const hears = status === 'running' && telling !== undefined && telling.whyNot === undefined;
  const [error, tell] = useTell(telling, setText);
  const send = async (event?: FormEvent) => {
    event?.preventDefault();
    if (hears) return tell(text.trim());
    if (isBusy || isAtWork || !isReady || uploads.underway.some(({ error }) => error === undefined)) return;
    setIsChecked(true);
    if (fields.some((field) => problemOf(field, values[field.key]) !== undefined)) return;
    const query = text.trim();
    const inputs = fields.length === 0 ? {} : { inputs: givenValues(fields, values) };
    if (!(await onSend({ query, ...inputs, files }))) return;
    // What was typed stays until the server has it; what was typed meanwhile stays, too.
    setText((now) => (now.trim() === query ? '' : now));
    setFiles([]);
  };
  return (
    <form
      className={style.composer}
      onSubmit={(event) => void send(event)}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        if (takesFiles) uploads.add(event.dataTransfer.files);
      }}
    >
      {fields.length > 0 && (
        <details className={style.inputs} open={store === undefined}>
          <summary>{words.inputs}</summary>
          <FormFields
            agent={agent}
            fields={fields}
            values={values}
            isChecked={isChecked}
            onChange={(key: string, value: Json | undefined) => setValues((now) => ({ ...now, [key]: value }))}
          />
        </details>
      )}
      <FileList files={files} uploads={uploads} onChange={setFiles} />
      <div className={style.line}>
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          onChange={({ target }) => {
            uploads.add([...(target.files ?? [])]);
            target.value = '';
          }}
        />
        {takesFiles ? (
          <IconButton label={words.attach} onClick={() => picker.current?.click()}>
            <Paperclip size={18} aria-hidden="true" />
          </IconButton>
        ) : (
          <span />
        )}
        <Writing
          label={hears ? words.tell : words.message}
          hint={hears ? words.tell : words.hint}
          text={text}
          onChange={setText}
          onSend={() => void send()}
        />
        {isAtWork && store !== undefined ? (
          <StopButton store={store} isStopping={status === 'stopping'} />
        ) : (
          <Button type="submit" look="main" disabled={isBusy || !isReady} aria-label={words.send}>
            <SendHorizontal size={18} aria-hidden="true" />
          </Button>
        )}
      </div>
      {status === 'running' && telling?.whyNot !== undefined && <p className={style.about}>{words[telling.whyNot]}</p>}
      {error !== undefined && <ErrorNote error={error} />}
    </form>
  );
}

function StopButton({ store, isStopping }: { readonly store: RunStore; readonly isStopping: boolean }) {
  const words = useTexts(texts);
  const [error, setError] = useState<unknown>();
  const stop = async () => {
    setError(undefined);
    await store.stop().catch(setError);
  };
  return (
    <>
      <Button look="danger" disabled={isStopping} onClick={() => void stop()}>
        <Square size={14} aria-hidden="true" />
        {words.stop}
      </Button>
      {error !== undefined && <ErrorNote error={error} />}
    </>
  );
}
