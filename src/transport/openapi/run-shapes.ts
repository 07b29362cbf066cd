/** Shapes of runs: their records, their answers, and what they did over time. */
import { z } from 'zod';

const text = z.string();
const milliseconds = z.number().int().describe('Milliseconds since 1970.');
const anyObject = z.looseObject({});

const usageShape = z.looseObject({
  prompt_tokens: z.number().int(),
  completion_tokens: z.number().int(),
  total_tokens: z.number().int(),
  calls: z.number().int(),
});

export const runShape = z.looseObject({
  id: text.describe('The same as `run_id`.'),
  run_id: text,
  agent_id: text,
  session_id: text,
  message_id: text,
  parent_run_id: text.nullable().describe('The run that it goes on from.'),
  forked_at: z.number().int().nullable().describe('Number of the event of that run behind which it goes on.'),
  status: z.enum(['running', 'waiting', 'succeeded', 'failed', 'cancelled']),
  error: z.looseObject({ code: text, message: text }).nullable(),
  started_at: milliseconds,
  finished_at: milliseconds.nullable(),
  elapsed_time: z.number().nullable().describe('Seconds; null while it runs.'),
  usage: usageShape,
  last_event_id: z.number().int().describe('Number of the last event; 0 while it runs.'),
});

const seconds = z.number().describe('Seconds.');

/** The answer of a run to a client that does not stream. */
export const answerShape = z.looseObject({
  session_id: text,
  run_id: text,
  status: z.enum(['waiting', 'succeeded', 'failed', 'cancelled']),
  event: text
    .optional()
    .describe('Name of the event that it was made of: message_end, user_inputs, workflow_finished.'),
  message_id: text.optional(),
  task_id: text.optional(),
  created_at: z.number().int().optional().describe('Seconds since 1970.'),
  data: z
    .looseObject({
      content: text.describe('Everything that was said.'),
      reference: anyObject.describe('What it cites.'),
      structured: anyObject.optional(),
      trace: z.array(anyObject).optional().describe('With `return_trace`: what each node did.'),
      usage: usageShape.optional(),
      component_id: text.optional().describe('The component that ended the message.'),
      inputs: anyObject.optional().describe('Of the run, or the fields that it waits for.'),
      outputs: z.unknown().optional().describe('Of the last component.'),
      elapsed_time: z.number().optional().describe('Seconds.'),
      created_at: z.number().int().optional().describe('Seconds since 1970.'),
      tips: text.optional().describe('What the run asks for.'),
      cpn_id: text.optional().describe('The component that asks.'),
      forms: z.array(anyObject).optional().describe('The same for each component that asks.'),
    })
    .optional(),
});

const eventNumber = z.number().int().describe('Number of an event.');

/** All activations of one component together. */
const nodeSumsShape = z.looseObject({
  component_id: text,
  component_type: text,
  component_name: text,
  activations: z.number().int(),
  failures: z.number().int(),
  retries: z.number().int(),
  first_started_at: milliseconds,
  last_ended_at: milliseconds.nullable(),
  busy_time: seconds,
  longest_time: seconds,
  skips: z.number().int().describe('How often it was passed over.'),
  pieces: z.number().int().describe('Pieces of text that it said.'),
  characters: z.number().int(),
  usage: usageShape,
});

export const runDetailShape = runShape.extend({ nodes: z.array(nodeSumsShape) });

export const timelineShape = runDetailShape.extend({
  activations: z.array(
    z.looseObject({
      component_id: text,
      within: text.nullable().describe('`container/pass`, outermost first; null at the top level.'),
      token: z.number().int().nullable(),
      attempt: z.number().int(),
      status: z.enum(['open', 'settled', 'failed', 'retried', 'skipped', 'waiting']),
      error: text.nullable(),
      started_at: milliseconds,
      ended_at: milliseconds.nullable(),
      elapsed_time: seconds.nullable(),
      first_event_id: eventNumber,
      last_event_id: eventNumber.nullable(),
      calls: z
        .array(
          z.looseObject({
            id: z.number().int(),
            kind: z.enum(['model', 'tool', 'agent']),
            name: text,
            parent: z.number().int().optional().describe('Id of the call that this one is part of.'),
            status: z.enum(['open', 'done', 'failed', 'stopped']),
            error: text.optional(),
            started_at: milliseconds,
            first_piece_at: milliseconds.optional(),
            ended_at: milliseconds.optional(),
            usage: usageShape.omit({ calls: true }).optional(),
          }),
        )
        .describe('Models, tools and agents that it called, where it called more than one model.'),
      usage: usageShape,
      emissions: z.array(
        z.looseObject({
          kind: text,
          first_event_id: eventNumber,
          last_event_id: eventNumber,
          at: milliseconds,
          pieces: z.number().int(),
          characters: z.number().int(),
        }),
      ),
    }),
  ),
  omitted: z.number().int().describe('Activations that are only in the sums of `nodes`.'),
});
