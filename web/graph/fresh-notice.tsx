/** Says that there are chunks which the graph does not have, or which other rules have read. */
import { useTexts } from '../shell/texts.js';
import { buildTexts } from './build-texts.js';
import style from './graph.module.css';
import { useBuild, useBuildCost, useIsToBuild } from './graph-data.js';

const LAYERS = ['links', 'rules'] as const;

export function FreshNotice({ dataset }: { readonly dataset: string }) {
  const words = useTexts(buildTexts);
  const { data: cost } = useBuildCost(dataset, LAYERS);
  const { data: isToBuild } = useIsToBuild(dataset);
  const { data: build } = useBuild(dataset);
  const fresh = cost?.chunks ?? 0;
  if (build?.state === 'RUNNING' || (fresh === 0 && isToBuild !== true)) return null;
  return (
    <p role="status" className={style.notice}>
      {fresh > 0 ? words.fresh(String(fresh)) : words.toBuild}
    </p>
  );
}
