"""Runs one script: waits for it on stdin, tells what came of it through a file that nothing else can open."""

import io
import json
import linecache
import os
import sys
import traceback
import types

REPORT = os.open("/report", os.O_WRONLY)
os.unlink("/report")


def read_job():
    parts = []
    while part := os.read(0, 1 << 16):
        parts.append(part)
    return json.loads(b"".join(parts))


def tell(report):
    # ASCII alone, so that half a surrogate pair passes, too.
    data = memoryview(json.dumps(report, allow_nan=False).encode("ascii"))
    while data:
        data = data[os.write(REPORT, data) :]


def describe(error):
    """The traceback as it concerns the script: without the frames of this file."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != "main.py":
        trace = trace.tb_next
    return "".join(traceback.format_exception(type(error), error, trace))


def finish(coroutine):
    """Drives a coroutine; there is no event loop to wait in."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    raise RuntimeError("main() awaits something that never comes: the sandbox has no event loop.")


def run(job):
    source = job["source"]
    linecache.cache["main.py"] = (len(source), None, source.splitlines(True), "main.py")
    module = types.ModuleType("main")
    module.__file__ = "main.py"
    sys.modules["main"] = module
    exec(compile(source, "main.py", "exec"), module.__dict__)
    main = module.__dict__.get("main")
    if not callable(main):
        raise TypeError("The script defines no function main().")
    value = main(**job["args"])
    return finish(value) if isinstance(value, types.CoroutineType) else value


def report_of(job):
    try:
        value = run(job)
    except SystemExit as stop:
        code = stop.code
        if code is None or isinstance(code, int):
            return {"type": "exited", "code": code or 0}
        return {"type": "raised", "text": str(code)}
    except MemoryError:
        return {"type": "raised", "text": "MemoryError", "isMemory": True}
    except BaseException as error:
        return {"type": "raised", "text": describe(error)}
    try:
        return {"type": "returned", "json": json.dumps(value, allow_nan=False)}
    except MemoryError:
        return {"type": "raised", "text": "MemoryError", "isMemory": True}
    except BaseException as error:
        return {"type": "raised", "text": f"main() must return a value that JSON can hold: {error}"}


def start():
    sys.stdout = io.TextIOWrapper(open(1, "wb", closefd=False), "utf-8", "backslashreplace", line_buffering=True)
    sys.stderr = io.TextIOWrapper(open(2, "wb", 0, closefd=False), "utf-8", "backslashreplace", write_through=True)
    report = report_of(read_job())
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            pass
    try:
        tell(report)
    except MemoryError:
        os._exit(137)
    os._exit(0)


start()
