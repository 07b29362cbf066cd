/** Publishing the draft as a version. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useId } from 'react';
import { Button } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { ErrorNote } from '../parts/notes.js';
import type { AgentDetail } from '../run/agent-detail.js';
import { agentPath } from '../run/paths.js';
import { useClient } from '../shell/studio.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import style from './editor.module.css';
import type { DraftSaver } from './model/draft-saver.js';

const texts = defineTexts({
  en: {
    title: 'Publish this draft',
    name: 'Title of the version',
    about: 'What is new',
    publish: 'Publish',
    cancel: 'Cancel',
    done: 'Published. Programs that use this agent run this version from now on.',
    close: 'Close',
    unsaved: 'The draft could not be saved, so it cannot be published now.',
  },
  zh: {
    title: '发布此草稿',
    name: '版本标题',
    about: '更新内容',
    publish: '发布',
    cancel: '取消',
    done: '已发布。使用此智能体的程序将运行此版本。',
    close: '关闭',
    unsaved: '草稿无法保存，因此现在无法发布。',
  },
});

interface PublishDialogProps {
  readonly agent: AgentDetail;
  readonly saver: DraftSaver;
  readonly onClose: () => void;
}

export function PublishDialog({ agent, saver, onClose }: PublishDialogProps) {
  const words = useTexts(texts);
  const field = useId();
  const client = useClient();
  const queries = useQueryClient();
  const { mutate, isPending, error, isSuccess } = useMutation({
    mutationFn: async (body: { readonly title?: string; readonly description?: string }) => {
      await saver.flush();
      if (saver.state.is !== 'saved') throw new Error(words.unsaved);
      await client.call(`${agentPath(agent.id)}/versions`, { method: 'POST', body });
    },
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ['versions', agent.id] });
      void queries.invalidateQueries({ queryKey: ['agents'] });
    },
  });
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const [title, description] = [String(form.get('title')).trim(), String(form.get('description')).trim()];
    mutate({ ...(title !== '' && { title }), ...(description !== '' && { description }) });
  };
  return (
    <Dialog title={words.title} onClose={onClose}>
      {isSuccess ? (
        <>
          <p role="status" className={style.done}>
            {words.done}
          </p>
          <div className={style.actions}>
            <Button look="main" onClick={onClose}>
              {words.close}
            </Button>
          </div>
        </>
      ) : (
        <form className={style.publish} onSubmit={send}>
          <label htmlFor={`${field}-title`}>{words.name}</label>
          <input id={`${field}-title`} name="title" maxLength={255} />
          <label htmlFor={`${field}-about`}>{words.about}</label>
          <textarea id={`${field}-about`} name="description" rows={3} maxLength={60_000} />
          {error !== null && <ErrorNote error={error} />}
          <div className={style.actions}>
            <Button onClick={onClose}>{words.cancel}</Button>
            <Button type="submit" look="main" disabled={isPending}>
              {words.publish}
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  );
}
