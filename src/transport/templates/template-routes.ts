import type { JsonObject } from '../../json.js';
import { success } from '../envelope.js';
import { formatTime } from '../format-time.js';
import type { Routes } from '../http/types.js';
import { loadTemplates, type Template } from './load-templates.js';
import { PROMPTS } from './prompts.js';

/** Canvases and prompts to begin with. Must come before routes of `/agents/:id`. */
export function templateRoutes(): Routes {
  let templates: Promise<readonly Template[]> | undefined;
  return (router) => {
    router.get('/agents/templates', async (exchange) => {
      // They come with the package and do not change while it runs.
      templates ??= loadTemplates();
      exchange.body = success((await templates).map(templateView));
    });
    router.get('/agents/prompts', (exchange) => {
      exchange.body = success(PROMPTS);
    });
  };
}

function templateView({ id, title, description, kind, dsl, changedAt }: Template): JsonObject {
  return {
    id,
    avatar: null,
    title: { en: title },
    description: { en: description },
    canvas_type: kind,
    canvas_types: [kind],
    canvas_category: 'agent_canvas',
    dsl,
    create_time: changedAt,
    create_date: formatTime(changedAt),
    update_time: changedAt,
    update_date: formatTime(changedAt),
  };
}
