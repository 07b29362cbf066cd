/** Import of canvas files, by choice, drop or paste; nothing is kept before it is confirmed. */
import { type ChangeEvent, useId, useState } from 'react';
import { useLocation } from 'wouter';
import { Button } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { FailureLine } from '../parts/failure-line.js';
import { useClient } from '../shell/studio.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import { createAgent, type NewAgent, useAgentsChanged } from './agent-data.js';
import style from './import-dialog.module.css';
import { type ImportFile, readFiles } from './import-file.js';
import { ImportPreview } from './import-preview.js';

const texts = defineTexts({
  en: {
    title: 'Import',
    choose: 'Choose files',
    hint: 'Canvas files of RAGFlow or Runnel: documents of version 1 or 2, exports, templates. You can also drop them on the page.',
    paste: 'Or paste the JSON of a canvas',
    import: (count: number) => (count > 1 ? `Import ${count} agents` : 'Import'),
    cancel: 'Cancel',
    again: 'Choose something else',
  },
  zh: {
    title: '导入',
    choose: '选择文件',
    hint: 'RAGFlow 或 Runnel 的画布文件：版本 1 或 2 的文档、导出文件、模板。也可以直接拖到页面上。',
    paste: '或粘贴画布的 JSON',
    import: (count: number) => (count > 1 ? `导入 ${count} 个智能体` : '导入'),
    cancel: '取消',
    again: '选择其他内容',
  },
});

interface ImportDialogProps {
  readonly files: readonly ImportFile[];
  readonly onClose: () => void;
}

export function ImportDialog({ files: dropped, onClose }: ImportDialogProps) {
  const words = useTexts(texts);
  const [files, setFiles] = useState(dropped);
  // By file; undefined for one that cannot be imported.
  const [agents, setAgents] = useState<ReadonlyMap<string, NewAgent | undefined>>(new Map());
  const { importAll, isBusy, error } = useImport(onClose);
  const ready = files.flatMap(({ id }) => agents.get(id) ?? []);
  return (
    <Dialog title={words.title} onClose={onClose} isWide>
      {files.length === 0 ? (
        <Sources onFiles={setFiles} />
      ) : (
        <div className={style.previews}>
          {files.map((file) => (
            <ImportPreview
              key={file.id}
              file={file}
              onAgent={(agent) => setAgents((before) => new Map(before).set(file.id, agent))}
            />
          ))}
        </div>
      )}
      {error !== undefined && <FailureLine error={error} />}
      <div className={style.actions}>
        {files.length > 0 && <Button onClick={() => setFiles([])}>{words.again}</Button>}
        <Button onClick={onClose}>{words.cancel}</Button>
        {files.length > 0 && (
          <Button look="main" disabled={isBusy || ready.length === 0} onClick={() => void importAll(ready)}>
            {words.import(ready.length)}
          </Button>
        )}
      </div>
    </Dialog>
  );
}

/** Creates the agents, and opens the one when it is one. */
function useImport(onDone: () => void) {
  const client = useClient();
  const changed = useAgentsChanged();
  const [, navigate] = useLocation();
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const importAll = async (agents: readonly NewAgent[]) => {
    setIsBusy(true);
    setError(undefined);
    try {
      const ids: string[] = [];
      for (const agent of agents) ids.push(await createAgent(client, agent));
      onDone();
      if (ids.length === 1) navigate(`/agents/${encodeURIComponent(ids[0]!)}`);
    } catch (failure) {
      setError(failure);
    } finally {
      setIsBusy(false);
      changed();
    }
  };
  return { importAll, isBusy, error };
}

function Sources({ onFiles }: { readonly onFiles: (files: readonly ImportFile[]) => void }) {
  const words = useTexts(texts);
  const field = useId();
  const choose = async ({ target }: ChangeEvent<HTMLInputElement>) => onFiles(await readFiles(target.files ?? []));
  return (
    <div className={style.sources}>
      <p>{words.hint}</p>
      <label className={style.choose}>
        {words.choose}
        <input
          type="file"
          multiple
          accept=".json,application/json"
          className="unseen"
          onChange={(event) => void choose(event)}
        />
      </label>
      <label htmlFor={field}>{words.paste}</label>
      <textarea
        id={field}
        rows={8}
        spellCheck={false}
        onChange={({ target: { value } }) => {
          if (value.trim() !== '') onFiles([{ id: crypto.randomUUID(), name: '', text: value }]);
        }}
      />
    </div>
  );
}
