/** Writes `docs/components.md` from the built-in components. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { componentPage } from '../src/components/catalogue.js';
import { components } from '../src/components/index.js';
import { pipelineComponents } from '../src/components/ingestion/index.js';
import { ROOT } from './support/files.js';
import { isProgram } from './support/script.js';

/** Where the page lives. */
export const COMPONENT_PAGE = path.join(ROOT, 'docs/components.md');

/** Those of canvases that answer, and those of pipelines that ingest documents. */
const ALL = [...components, ...pipelineComponents];

const NOTE = '<!-- Written by `npm run docs:components` from src/components; edit the components instead. -->\n';

/** The page as it lies in `docs/`. */
export function componentDocs(): string {
  return NOTE + componentPage(ALL);
}

if (isProgram(import.meta.url)) {
  writeFileSync(COMPONENT_PAGE, componentDocs());
  console.log(`docs/components.md lists ${ALL.length} components`);
}
