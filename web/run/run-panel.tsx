/** The panel beside a canvas: the conversation, the trace, the state. */
import { Tabs } from 'radix-ui';
import { type ReactNode, Suspense } from 'react';
import type { Document } from '../../src/dsl/document.js';
import { ChatPanel } from '../chat/chat-panel.js';
import { laterPart } from '../parts/later-part.js';
import { useQueryValues } from '../parts/location.js';
import { EmptyNote, LoadingNote } from '../parts/notes.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import type { AgentDetail } from './agent-detail.js';
import type { Conversation, ConversationState } from './conversation.js';
import style from './run-panel.module.css';
import type { RunStore } from './run-store.js';
import { readTab, TABS } from './tabs.js';

const TracePanel = laterPart(async () => (await import('../trace/trace-panel.js')).TracePanel);
const StatePanel = laterPart(async () => (await import('../trace/state-panel.js')).StatePanel);

const texts = defineTexts({
  en: { label: 'Views of the run', run: 'Run', trace: 'Trace', state: 'State', none: 'Nothing has run yet.' },
  zh: { label: '运行视图', run: '运行', trace: '轨迹', state: '状态', none: '还没有运行。' },
});

export interface RunPanelProps {
  readonly agent: AgentDetail;
  readonly document: Document | undefined;
  readonly conversation: Conversation;
  readonly state: ConversationState;
  /** The run that is shown; undefined before the first one. */
  readonly store: RunStore | undefined;
  /** Id of the node that is selected on the canvas. */
  readonly selected: string | undefined;
  readonly onSelect: (id: string | undefined) => void;
}

export function RunPanel({ agent, document, conversation, state, store, selected, onSelect }: RunPanelProps) {
  const words = useTexts(texts);
  const [query, changeQuery] = useQueryValues();
  const tab = readTab(query);
  const none = <EmptyNote title={words.none} />;
  const choose = (next: string) => changeQuery({ tab: next === 'run' ? undefined : next });
  return (
    <Tabs.Root className={style.panel} value={tab} onValueChange={choose}>
      <Tabs.List className={style.tabs} aria-label={words.label}>
        {TABS.map((name) => (
          <Tabs.Trigger key={name} value={name} className={style.tab}>
            {words[name]}
          </Tabs.Trigger>
        ))}
      </Tabs.List>
      {/* The conversation stays, so that what is typed in it and where it is scrolled to do. */}
      <Tabs.Content value="run" forceMount hidden={tab !== 'run'} className={style.content}>
        <ChatPanel agent={agent} document={document} conversation={conversation} state={state} />
      </Tabs.Content>
      <Tabs.Content value="trace" className={style.content}>
        {later(store === undefined ? none : <TracePanel store={store} selected={selected} onSelect={onSelect} />)}
      </Tabs.Content>
      <Tabs.Content value="state" className={style.content}>
        {later(store === undefined ? none : <StatePanel store={store} />)}
      </Tabs.Content>
    </Tabs.Root>
  );
}

/** What is not needed to run an agent is loaded when it is opened. */
const later = (panel: ReactNode) => <Suspense fallback={<LoadingNote />}>{panel}</Suspense>;
