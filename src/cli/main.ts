#!/usr/bin/env node
/** The program `runnel`. */
import * as modules from 'node:module';

// Versions of Node from 22.1 on keep what they compiled, in the folder for temporary files; everything large is loaded after this.
(modules as { readonly enableCompileCache?: () => unknown }).enableCompileCache?.();
const { runProgram } = await import('./program.js');
await runProgram();
