/** A process that kills itself at a step of a program: `agent-child.ts <program> <folder> <step>`; it ends well when there are fewer steps. */
import { type ProgramName, runProgram } from './agent-programs.js';

const [name, folder = '', at] = process.argv.slice(2);
let steps = 0;
await runProgram(name as ProgramName, {
  folder,
  step: () => {
    steps += 1;
    if (steps === Number(at)) process.kill(process.pid, 'SIGKILL');
  },
});
process.stdout.write(String(steps));
