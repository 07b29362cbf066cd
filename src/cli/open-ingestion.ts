/** What the ingestion of documents uses beside its stores: models, canvases, the layout of pages. */
import type { Services } from '../components/services.js';
import { EngineError } from '../errors.js';
import type { FindChat, FindPipeline, IngestionServices } from '../ingestion/work.js';
import type { RecogniseLayout } from '../knowledge/base/layout/layout.js';
import type { ChatChoice, Models } from '../models/router.js';
import type { AgentStore } from '../records/agents.js';
import type { Settings } from '../settings/read-settings.js';

/** The settings that ingestion is made from. */
export type IngestionSettings = Pick<Settings['nodes'], 'chromium' | 'layoutUrl' | 'layoutUrlBefore'>;

/** Makes these services; canvases, the browser and the client for layouts are loaded with the first document that needs them. */
export function openIngestion(
  agents: Pick<AgentStore, 'find'>,
  { models }: Pick<Services, 'models'>,
  settings: IngestionSettings,
): Pick<IngestionServices, 'chat' | 'pipelines' | 'layout'> {
  const url = settings.layoutUrl ?? settings.layoutUrlBefore;
  return {
    chat: chatOf(models),
    pipelines: pipelinesOf(agents),
    ...(url !== undefined && { layout: layoutOf(url, settings.chromium) }),
  };
}

/** The chat models of the configuration; the built-in one says nothing about a document. */
function chatOf(models: Models): FindChat {
  return (tenant, llmId, needs) => {
    const own = models.forTenant?.(tenant) ?? models;
    const choose = (id: string): ChatChoice | undefined => {
      try {
        const choice = own.chat(id);
        return choice.provider === 'scripted' ? undefined : choice;
      } catch (error) {
        if (EngineError.is(error) && error.code === 'MODEL_UNKNOWN') return undefined;
        throw error;
      }
    };
    const chosen = choose(llmId);
    if (needs !== 'images' || llmId !== '' || chosen?.supportsImages === true) return chosen;
    const [first] = models.describe().visionModels ?? [];
    return first === undefined ? undefined : choose(first);
  };
}

/** The canvases of a tenant: what is published of an agent, else its draft. */
function pipelinesOf(agents: Pick<AgentStore, 'find'>): FindPipeline {
  return async (tenant, id) => {
    const agent = await agents.find(tenant, id);
    const name = JSON.stringify(id);
    if (agent === undefined) {
      throw new EngineError('INGEST_FAILED', `There is no agent ${name} that could be the pipeline of a document.`);
    }
    const { loadPipeline } = await import('../canvas/load-pipeline.js');
    try {
      return loadPipeline(agent.published?.dsl ?? agent.dsl);
    } catch (error) {
      if (!EngineError.is(error)) throw error;
      const message = `The agent ${name} cannot be the pipeline of a document. ${error.message}`;
      throw new EngineError('INGEST_FAILED', message, { details: error.details, cause: error });
    }
  };
}

function layoutOf(url: string, executable: string | undefined): RecogniseLayout {
  let opened: Promise<RecogniseLayout> | undefined;
  const open = async (): Promise<RecogniseLayout> => {
    const [{ createLayoutRecogniser }, { askForLayout }, { renderPages }] = await Promise.all([
      import('../knowledge/base/layout/recognise-layout.js'),
      import('../adapters/layout/layout-client.js'),
      import('../adapters/layout/render-pages.js'),
    ]);
    return createLayoutRecogniser({
      see: (jpeg) => askForLayout({ url }, jpeg),
      render: (pdf, options) => renderPages(pdf, { ...options, executable }),
    });
  };
  return async (question) => {
    opened ??= open();
    return (await opened)(question);
  };
}
