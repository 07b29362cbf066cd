import { concatMap, type Observable } from 'rxjs';
import { z } from 'zod';
import { toolFailed } from '../adapters/failures.js';
import { storeArtifacts } from '../adapters/sandbox/artifacts.js';
import { type CodeResult, languageOf } from '../adapters/sandbox/code-runner.js';
import {
  attachmentText,
  type Contract,
  canonicalText,
  DEFAULT_OUTPUTS,
  failureText,
  findMismatch,
  inferType,
  type LinkedArtifact,
  readContract,
  resultValue,
} from '../adapters/sandbox/output.js';
import { artifactMarkdown } from '../adapters/tool-event.js';
import { mapTexts, resolveParam, type ValueSource } from '../dsl/resolve.js';
import { EngineError } from '../errors.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { type Artifact, defineTool, type ToolEvent, type ToolResult, toolResult } from './tool.js';
import { requireService } from './tool-services.js';

/** Days that files of scripts can be fetched where the operator sets none. */
const ARTIFACT_DAYS = 7;
const DAY_MS = 86_400_000;

/** Objects as documents hold them; anything else counts as nothing given. */
const objectOf = (fallback: JsonObject, description: string) =>
  z
    .preprocess(
      (given) => (isJsonObject(given) && Object.keys(given).length > 0 ? given : fallback),
      z.record(z.string(), z.json()),
    )
    .describe(description);

/**
 * Runs a script with a function `main` in a sandbox.
 *
 * Errors: `TOOL_FAILED` with the message of the script or the sandbox, or where the value differs from the declared type;
 * `TOOL_ARGUMENTS` for a language that cannot be run; those of `CodeRunner`.
 */
export const codeExec = defineTool({
  component: 'CodeExec',
  name: 'execute_code',
  aliases: ['code_exec'],
  summary: 'Runs Python or JavaScript in a sandbox and gives what its function main returns.',
  advice:
    'The script must define main: in Python `def main(**args)`, in JavaScript `function main(args)`, which may be async. ' +
    'It must return a JSON object (dict) unless you were told another type. There is no network, and nothing beside the ' +
    'standard library. Files written to the folder artifacts (png, jpg, svg, pdf, csv, json, html) are given to the user.',
  arguments: {
    lang: z
      .string()
      .meta({ enum: ['python', 'javascript'] })
      .describe('Language of the script.'),
    script: z.string().describe('The script; it must define main.'),
    // Not a JSON schema, which would be long and tell models nothing new.
    arguments: z
      .unknown()
      .default({})
      .meta({ type: 'object' })
      .describe('Arguments of main by name; in a document also references.'),
  },
  params: {
    arguments: objectOf({}, 'Arguments of main by name: references or values. Default: none.'),
    outputs: objectOf(
      DEFAULT_OUTPUTS,
      'One output of your own and its type: {name: {type}}; String, Number, Boolean, Object, Array<…> or Any. Default: result, an object.',
    ),
  },
  nodeDefaults: { lang: 'python' },
  verbatim: ['script', 'lang'],
  outputs: {
    result: { type: 'any', description: 'What main returned; under the name that `outputs` declares.' },
    content: { type: 'string', description: 'The value as text, and what is in the files.' },
    actual_type: { type: 'string', description: 'Type of the value, such as Array<String>.' },
    raw_result: { type: 'any', description: 'The value as it was returned.' },
    attachments: { type: 'array', description: 'Files that the script made, as links in Markdown.' },
    stdout: { type: 'string', description: 'What the script printed.' },
    stderr: { type: 'string', description: 'What it printed as warnings.' },
    exit_code: { type: 'number', description: '0.' },
    _ATTACHMENT_CONTENT: { type: 'string', description: 'What is in the files, as text.' },
    _ARTIFACTS: { type: 'array', description: 'Files that the script made: {name, url, mime_type, size}.' },
  },
  ownOutputs: ({ outputs }) => Object.keys(outputs),
  primaryOutput: 'result',
  timeoutSeconds: 600,
  // A script may have stored files already, and one that failed fails again.
  isRepeatable: false,
  check: ({ outputs }) => {
    const contract = readContract(outputs);
    return typeof contract === 'string' ? [contract] : [];
  },
  call({ lang, script, arguments: given }, { params, services, source, trace, now }): Observable<ToolEvent> {
    const language = languageOf(lang);
    if (language === undefined) {
      throw new EngineError('TOOL_ARGUMENTS', `lang must be python or javascript; received ${JSON.stringify(lang)}`);
    }
    const contract = readContract(params.outputs);
    if (typeof contract === 'string') throw toolFailed(contract);
    const runner = requireService(services, 'code', 'Tool "execute_code"');
    const args = argumentsOf(given as Json, params.arguments, source);
    return runner.run({ language, source: script, args, ...(trace && { trace }) }).pipe(
      concatMap(async (result) => {
        const failure = failureText(result);
        if (failure !== undefined) throw toolFailed(failure);
        const value = resultValue(result);
        const mismatch = findMismatch(value, contract.type);
        if (mismatch !== undefined) throw toolFailed(mismatch);
        const { artifactDays = ARTIFACT_DAYS } = services.tools ?? {};
        const expiresAt = artifactDays === 0 ? undefined : now() + artifactDays * DAY_MS;
        const { files, session } = services;
        const linked = await storeArtifacts(result.artifacts, { files, session: session?.id, expiresAt });
        return resultOf(result, value, contract, linked);
      }),
    );
  },
});

/** What the caller gave, and for declared arguments without a value what they refer to. */
function argumentsOf(given: Json, declared: JsonObject, source: ValueSource): JsonObject {
  const args: Record<string, Json> = isJsonObject(given) ? { ...given } : {};
  const read = (text: string): Json => (text.trim() === '' ? null : resolveParam(text, source));
  for (const [name, reference] of Object.entries(declared)) {
    if (!Object.hasOwn(args, name) || !args[name]) args[name] = mapTexts(reference, read);
  }
  return args;
}

function resultOf(
  { stdout, stderr, exitCode }: CodeResult,
  value: Json,
  { name }: Contract,
  linked: readonly LinkedArtifact[],
): ToolResult {
  const files = attachmentText(linked);
  const content = [canonicalText(value), files].filter((part) => part !== '').join('\n\n');
  const artifacts = linked
    .filter(({ url }) => url !== '')
    .map(
      ({ file, url }): Artifact => ({ name: file.name, url, mimeType: file.mimeType, bytes: file.bytes.byteLength }),
    );
  const outputs: JsonObject = {
    content,
    actual_type: inferType(value),
    raw_result: value,
    attachments: artifacts.length > 0 ? artifacts.map(artifactMarkdown) : linked.map(({ file }) => file.name),
    stdout,
    stderr,
    exit_code: exitCode,
    _ATTACHMENT_CONTENT: files,
    _ERROR: '',
    [name]: value,
  };
  if (artifacts.length === 0) return toolResult(content, { ...outputs, _ARTIFACTS: null });
  return toolResult(content, outputs, { artifacts });
}
