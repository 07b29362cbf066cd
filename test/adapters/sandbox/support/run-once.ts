/** Runs one script and leaves the runner open, with a spare interpreter: the process must end all the same. */
import { firstValueFrom } from 'rxjs';
import { createEmbeddedRunner } from '../../../../src/adapters/sandbox/embedded/embedded-runner.js';

const source = 'function main() { return "done" }';
const result = await firstValueFrom(createEmbeddedRunner().run({ language: 'nodejs', source, args: {} }));
console.log(result.result?.value);
