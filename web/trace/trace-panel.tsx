/** What a run did over time: the waterfall, the details of what is chosen in it, and the scrubber. */
import { useState } from 'react';
import type { ActivationPicture } from '../../src/canvas/picture/picture.js';
import { ForkButton } from '../debug/fork-button.js';
import { OutputFields } from '../debug/output-fields.js';
import { EmptyNote } from '../parts/notes.js';
import { useTexts } from '../shell/texts.js';
import { ActivationDetails } from './activation-details.js';
import type { RunSource } from './run-source.js';
import { Scrubber } from './scrubber.js';
import style from './trace-panel.module.css';
import { TraceTable } from './trace-table.js';
import { traceTexts } from './trace-texts.js';
import { TraceTools } from './trace-tools.js';
import { useRun } from './use-run.js';
import { useTrace } from './use-trace.js';
import { ValuesRead } from './values-read.js';
import { Waterfall } from './waterfall.js';

export interface TracePanelProps {
  readonly store: RunSource;
  /** Id of the node that is selected on the canvas. */
  readonly selected: string | undefined;
  readonly onSelect: (id: string | undefined) => void;
}

export function TracePanel({ store, selected, onSelect }: TracePanelProps) {
  const words = useTexts(traceTexts);
  const run = useRun(store);
  const { live, at, shown, seek } = run;
  const trace = useTrace(live, onSelect);
  const [isTable, setIsTable] = useState(false);
  const { chosen } = trace;
  if (live.activations === 0) return <EmptyNote title={words.none} />;
  const startMs = live.startedAtMs ?? 0;
  const nameOf = (id: string) => live.nodes.get(id)?.name || id;
  return (
    <div className={style.panel}>
      <TraceTools picture={live} trace={trace} isTable={isTable} onTable={() => setIsTable(!isTable)} />
      {isTable ? (
        <TraceTable picture={live} nameOf={nameOf} />
      ) : (
        <Waterfall
          rows={trace.rows}
          window={trace.window}
          startMs={startMs}
          atMs={at === undefined ? undefined : shown.lastAtMs}
          chosen={chosen?.key}
          marked={selected}
          onChoose={trace.choose}
          onToggle={trace.toggle}
          onHover={trace.hover}
          onSeek={seek}
          onZoom={trace.zoom}
        />
      )}
      {chosen !== undefined && !isTable && (
        <div className={style.details}>
          <ActivationDetails
            node={chosen.node}
            activation={chosen.activation}
            nameOf={nameOf}
            startMs={startMs}
            onSeek={seek}
            reads={<ValuesRead source={store} activation={chosen.activation} />}
            gave={gaveOf(store, chosen.activation)}
          >
            <ForkButton store={store} at={Math.max(1, chosen.activation.startSeq - 1)} isStep className={style.small} />
          </ActivationDetails>
        </div>
      )}
      <Scrubber store={store} {...run} />
    </div>
  );
}

/** What has settled can be given other values; what is at work, waits or failed is run again. */
function gaveOf(store: RunSource, activation: ActivationPicture) {
  const { status, endSeq, ordinal } = activation;
  if (status !== 'settled' || endSeq === undefined) return undefined;
  return <OutputFields key={ordinal} store={store} activation={{ ...activation, endSeq }} />;
}
