/** An agent's canvas with its run panel: the frame, and what its parts share. */
import { useCallback, useDeferredValue, useState } from 'react';
import { useLocation } from 'wouter';
import type { Document } from '../../src/dsl/document.js';
import { useQueryValues } from '../parts/location.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import type { AgentDetail } from './agent-detail.js';
import { MainPane } from './main-pane.js';
import { Panes } from './panes.js';
import { readAddress } from './place.js';
import { RunHeader } from './run-header.js';
import { RunPanel } from './run-panel.js';
import style from './run-screen.module.css';
import { readTab } from './tabs.js';
import { useConversation, useShownRun } from './use-conversation.js';
import { useSteps } from './use-steps.js';

const texts = defineTexts({
  en: { canvas: 'Canvas', panel: 'Run panel' },
  zh: { canvas: '画布', panel: '运行面板' },
});

export interface RunScreenProps {
  readonly agent: AgentDetail;
  /** Undefined when it cannot be read. */
  readonly document: Document | undefined;
}

export function RunScreen({ agent, document: loaded }: RunScreenProps) {
  const words = useTexts(texts);
  const [path] = useLocation();
  const [query] = useQueryValues();
  const address = readAddress(path);
  const [edited, setEdited] = useState<Document>();
  // Panels need not follow each letter that is typed into a form.
  const document = useDeferredValue(edited ?? loaded);
  const { conversation, state } = useConversation(agent.id, loaded, address);
  const [selected, setSelected] = useState<string>();
  const run = address?.run ?? state.turns.findLast((turn) => turn.store !== undefined)?.run;
  const at = query.get('at');
  const tab = readTab(query);
  const shown = useShownRun(conversation, state, run, at);
  const select = useCallback((id: string | undefined) => setSelected(id), []);
  const turn = run === undefined ? undefined : state.turns.find((one) => one.run === run);
  const isEdited = edited !== undefined && edited !== loaded;
  const steps = useSteps({ store: shown.store, turn, tab, at, isEdited, onSelect: select });
  return (
    <div className={style.screen}>
      <RunHeader agent={agent} conversation={conversation} session={state.session} />
      <Panes
        name="runnel.run-panel"
        main={
          <section className={style.canvas} aria-label={words.canvas}>
            <MainPane
              {...shown}
              agent={agent}
              document={loaded}
              conversation={conversation}
              isRead={address?.run !== undefined || address?.session !== undefined}
              selected={selected}
              opensForm={tab === 'run' && !steps.isReading}
              onSelect={steps.choose}
              onDocument={setEdited}
            />
          </section>
        }
        side={
          <section className={style.panel} aria-label={words.panel}>
            <RunPanel
              agent={agent}
              document={document}
              conversation={conversation}
              state={state}
              store={shown.store}
              selected={selected}
              onSelect={select}
            />
          </section>
        }
      />
    </div>
  );
}
