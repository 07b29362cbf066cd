import { describe, expect, it } from 'vitest';
import { openRunner, runCode, tellResult } from './support/run-code.js';

const runner = openRunner({ maxMemoryBytes: 64 * 1024 * 1024, maxSpares: 2 });

/** What a script tries, the script, what comes of it; a number is the time that it gets. */
type Attempt = readonly [string, string, RegExp, number?];

/** Gives what each attempt gives, or the name of what it raises; in one interpreter, since none of them ends it. */
const TRY_ALL = `
def attempt(body):
    scope = {}
    exec("def attempt():\\n" + "\\n".join("  " + line for line in body.split("\\n")), scope)
    try:
        return scope["attempt"]()
    except Exception as error:
        return type(error).__name__

def main(bodies):
    return [attempt(body) for body in bodies]
`;

const HOST: readonly Attempt[] = [
  ['read a file of the host', 'return open("/etc/passwd").read()', /FileNotFoundError/],
  [
    'climb out of the folder',
    'return open("../../../../etc/passwd").read()',
    /FileNotFoundError|OSError|PermissionError/,
  ],
  [
    'climb out below artifacts',
    'return open("artifacts/../../../proc/self/environ").read()',
    /FileNotFoundError|OSError|PermissionError/,
  ],
  ['read the source of the sandbox', 'return open("/report").read()', /FileNotFoundError/],
  ['list the root', 'import os\nreturn sorted(os.listdir("/"))', /^\["artifacts"(,"usr")?\]$/],
  [
    'link to a file of the host',
    'import os\nos.symlink("/etc/passwd", "artifacts/x.csv")\nreturn open("artifacts/x.csv").read()',
    /OSError|PermissionError|NotImplementedError/,
  ],
  ['read the environment', 'import os\nreturn dict(os.environ)', /^\{\}$/],
  ['run a command', 'import os\nreturn os.system("id")', /AttributeError/],
  [
    'start a process',
    'import subprocess\nreturn subprocess.check_output(["id"]).decode()',
    /OSError|AttributeError|NotImplementedError/,
  ],
  ['fork', 'import os\nreturn os.fork()', /AttributeError/],
  [
    'open a socket',
    'import socket\nsocket.socket().connect(("127.0.0.1", 80))',
    /AttributeError|OSError|ModuleNotFoundError|ImportError/,
  ],
  [
    'fetch a page',
    'import urllib.request\nreturn urllib.request.urlopen("http://127.0.0.1/").read().decode()',
    /Error/,
  ],
  [
    'look a name up',
    'import socket\nreturn socket.gethostbyname("localhost")',
    /AttributeError|OSError|ImportError|ModuleNotFoundError/,
  ],
  ['load a library', 'import ctypes\nreturn str(ctypes.CDLL(None))', /ImportError|ModuleNotFoundError|AttributeError/],
  ['map memory', 'import mmap\nreturn 1', /ImportError|ModuleNotFoundError/],
  [
    'start a thread',
    'import threading\nt = threading.Thread(target=print)\nt.start()\nreturn 1',
    /RuntimeError|OSError/,
  ],
  ['use multiprocessing', 'import multiprocessing\nreturn multiprocessing.Pool(1).map(abs, [1])', /Error/],
  ['reach JavaScript', 'import js\nreturn str(js.process)', /ModuleNotFoundError/],
  ['reach Pyodide', 'import pyodide_js\nreturn 1', /ModuleNotFoundError/],
  ['install a package', 'import pip\nreturn 1', /ModuleNotFoundError/],
  ['send a signal', 'import os\nos.kill(1, 9)\nreturn 1', /AttributeError|OSError/],
  ['ask for the user', 'import pwd\nreturn str(pwd.getpwall())', /ModuleNotFoundError|ImportError/],
  [
    'walk subclasses to os',
    'for c in ().__class__.__base__.__subclasses__():\n  if c.__name__ == "_wrap_close":\n    return c.__init__.__globals__["system"]("id")\nreturn "none"',
    /KeyError|none/,
  ],
  [
    'see the job of another script',
    'import gc\nreturn [o for o in gc.get_objects() if isinstance(o, dict) and o.get("secret") == 7]',
    /^\[\]$/,
  ],
];

const FLOODS: readonly Attempt[] = [
  [
    'open files for ever',
    'def main():\n  a = [open("f", "w")]\n  while True: a.append(open("f"))',
    /^(program_error|resource_limit_exceeded)/,
    5_000,
  ],
  [
    'make huge names',
    'def main():\n  n = 0\n  while True:\n    n += 1\n    open("a" * 10**6 + str(n), "w").close()',
    /^(program_error|resource_limit_exceeded)/,
    5_000,
  ],
  ['loop for ever', 'def main():\n  while True: pass', /^resource_limit_exceeded time/, 400],
  ['sleep for ever', 'import time\ndef main():\n  time.sleep(10**6)', /^resource_limit_exceeded time/, 400],
  [
    'ignore what interrupts',
    'def main():\n  while True:\n    try:\n      while True: pass\n    except BaseException: pass',
    /^resource_limit_exceeded time/,
    400,
  ],
  ['never come to main', 'while True: pass', /^resource_limit_exceeded time/, 400],
  [
    'match a regex for ever',
    'import re\ndef main():\n  return bool(re.match(r"(a+)+$", "a" * 40 + "b"))',
    /^resource_limit_exceeded time/,
    400,
  ],
  ['compute one huge number', 'def main():\n  return len(str(7 ** 10 ** 9))', /^resource_limit_exceeded/, 400],
  ['fill the memory with one text', 'def main():\n  return len("a" * 10**9)', /^resource_limit_exceeded memory/],
  [
    'fill the memory bit by bit',
    'def main():\n  a = []\n  while True: a.append(bytearray(10**6))',
    /^resource_limit_exceeded memory/,
  ],
  [
    'catch the want of memory',
    'def main():\n  a = []\n  try:\n    while True: a.append(bytearray(10**6))\n  except MemoryError:\n    del a\n    return "caught"',
    /^value "caught"$/,
  ],
  ['recurse', 'def f(): f()\ndef main(): f()', /^program_error : [\s\S]*RecursionError/],
  [
    'recurse without a limit',
    'import sys\nsys.setrecursionlimit(10**9)\ndef f(): f()\ndef main(): f()',
    /^(program_error|resource_limit_exceeded)/,
    1_000,
  ],
  [
    'recurse in the parser',
    'def main():\n  eval("(" * 100000 + ")" * 100000)',
    /^(program_error|resource_limit_exceeded)/,
  ],
  ['print for ever', 'def main():\n  while True: print("a" * 1000)', /^resource_limit_exceeded output/],
  [
    'print errors for ever',
    'import sys\ndef main():\n  while True: sys.stderr.write("a" * 1000)',
    /^resource_limit_exceeded output/,
  ],
  [
    'print without a buffer',
    'import os\ndef main():\n  while True: os.write(1, b"a" * 1000)',
    /^resource_limit_exceeded output/,
  ],
  ['return too much', 'def main():\n  return ["a" * 1000] * 10000', /^resource_limit_exceeded output/],
  [
    'fill the disk',
    'def main():\n  with open("artifacts/a.csv", "wb") as f:\n    while True: f.write(b"a" * 10**6)',
    /^program_error : [\s\S]*No space left/,
  ],
  [
    'make a huge sparse file',
    'def main():\n  with open("big", "wb") as f:\n    f.seek(2**40)\n    f.write(b"a")',
    /^program_error : [\s\S]*(No space left|OSError)/,
  ],
  [
    'make files for ever',
    'def main():\n  n = 0\n  while True:\n    open(f"f{n}", "w").close()\n    n += 1',
    /^program_error : [\s\S]*No space left/,
  ],
  ['return itself', 'def main():\n  a = []\n  a.append(a)\n  return a', /JSON can hold/],
  [
    'return what is nested too deep',
    'def main():\n  a = []\n  for _ in range(300): a = [a]\n  return a',
    /more than 200 levels/,
  ],
  ['return what is no JSON', 'def main():\n  return {1, 2}', /JSON can hold/],
  ['return no number', 'def main():\n  return float("nan")', /JSON can hold/],
];

const FORGERIES: readonly Attempt[] = [
  ['raise one huge text', 'def main():\n  raise ValueError("a" * 10**7)', /^(program_error|resource_limit_exceeded)/],
  [
    'write to every descriptor',
    'import os\ndef main():\n  for fd in range(0, 300):\n    try: os.write(fd, b"x")\n    except OSError: pass\n  return "x" in str(os.listdir("/"))',
    /broke what reports its result/,
  ],
  [
    'print a marker',
    `def main():\n  print('__RAGFLOW_RESULT__:' + 'eyJwcmVzZW50Ijp0cnVlLCJ2YWx1ZSI6MX0=')\n  return 2`,
    /^value 2$/,
  ],
  ['print an ending', `def main():\n  print('{"type":"returned","json":"1"}')\n  return 2`, /^value 2$/],
  [
    'bend what makes JSON',
    'import json\njson.dumps = lambda *a, **k: "x"\ndef main():\n  return 2',
    /^(value null|program_error)/,
  ],
  ['leave with 0', 'import os\ndef main():\n  os._exit(0)', /^value null$/],
  ['leave with an error', 'import sys\ndef main():\n  sys.exit(3)', /^program_error : Exit code 3$/],
  ['leave with words', 'import sys\ndef main():\n  sys.exit("no")', /^program_error : no$/],
  ['abort', 'import os\ndef main():\n  os.abort()', /^program_error/],
  ['close the streams', 'import os\nos.close(1)\nos.close(2)\ndef main():\n  return 2', /^value 2$/],
  [
    'raise what cannot be shown',
    'class E(Exception):\n  def __str__(self): raise self\ndef main():\n  raise E()',
    /^program_error : [\s\S]*E/,
  ],
  ['define no main', 'x = 1', /no function main/],
  ['wait for nobody', 'class W:\n  def __await__(self):\n    yield\nasync def main():\n  await W()', /never comes/],
];

it('keeps Python from the host', async () => {
  const bodies = HOST.map(([, body]) => body);
  const { result } = await runCode(runner, 'python', TRY_ALL, { args: { bodies } });
  const told = result?.value as readonly unknown[];
  expect(told).toHaveLength(HOST.length);
  HOST.forEach(([name, , expected], at) => {
    expect(JSON.stringify(told[at]), name).toMatch(expected);
  });
});

describe.each([
  ['the limits', FLOODS],
  ['the result', FORGERIES],
])('Python against %s', (_what, attempts) => {
  for (const [name, source, expected, timeoutMs] of attempts) {
    it.concurrent(name, async () => {
      const result = await runCode(runner, 'python', source, timeoutMs === undefined ? {} : { timeoutMs });
      expect(tellResult(result)).toMatch(expected);
    });
  }
});
