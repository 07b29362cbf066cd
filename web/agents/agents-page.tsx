/** All agents: what there is to open and run, and how more come. */
import { FileUp, Plus } from 'lucide-react';
import { Suspense, useState } from 'react';
import { Button } from '../parts/button.js';
import { laterDialog } from '../parts/later-part.js';
import { useQueryValues } from '../parts/location.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import { AgentList } from './agent-list.js';
import style from './agents-page.module.css';
import { DeletionNotes, useDeletions } from './deletion-notes.js';
import { FileDrop } from './file-drop.js';
import type { ImportFile } from './import-file.js';
import { SearchBar } from './search-bar.js';

const texts = defineTexts({
  en: { title: 'Agents', create: 'New agent', import: 'Import' },
  zh: { title: '智能体', create: '新建智能体', import: '导入' },
});

// They draw canvases, which needs code that the list does not.
const ImportDialog = laterDialog(async () => (await import('./import-dialog.js')).ImportDialog);
const NewAgentDialog = laterDialog(async () => (await import('./new-agent-dialog.js')).NewAgentDialog);

/** Which window is open; `files` are those that were dropped. */
type Opened = { readonly kind: 'new' } | { readonly kind: 'import'; readonly files: readonly ImportFile[] };

export function AgentsPage() {
  const words = useTexts(texts);
  const [values, change] = useQueryValues();
  const [opened, setOpened] = useState<Opened>();
  const deletions = useDeletions();
  const search = values.get('search') ?? '';
  const tag = values.get('tag') ?? undefined;
  const close = () => setOpened(undefined);
  return (
    <FileDrop onFiles={(files) => setOpened({ kind: 'import', files })}>
      <div className={style.page}>
        <div className={style.head}>
          <h1>{words.title}</h1>
          <Button onClick={() => setOpened({ kind: 'import', files: [] })}>
            <FileUp size={16} aria-hidden="true" /> {words.import}
          </Button>
          <Button onClick={() => setOpened({ kind: 'new' })}>
            <Plus size={16} aria-hidden="true" /> {words.create}
          </Button>
        </div>
        <SearchBar words={search} tag={tag} onChange={change} />
        <AgentList search={{ words: search, tag }} deletions={deletions} />
      </div>
      <Suspense>
        {opened?.kind === 'new' && <NewAgentDialog onClose={close} />}
        {opened?.kind === 'import' && <ImportDialog files={opened.files} onClose={close} />}
      </Suspense>
      <DeletionNotes deletions={deletions} />
    </FileDrop>
  );
}
