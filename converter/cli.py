"""`pt2pnnx model.pt2 key=value…`: pnnx's command line for exported programs."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from converter.errors import ConvertError, UnforeseenError, UnsupportedError, UsageError, one_line
from converter.signals import end_cleanly, undisturbed

if TYPE_CHECKING:
    from converter.conversion import Converted

USAGE = """\
Usage: pt2pnnx model.pt2 [key=value]...
  pnnxparam=model.pnnx.param   pnnx's graph
  pnnxbin=model.pnnx.bin       pnnx's weights
  pnnxpy=model_pnnx.py         the model in PyTorch
  ncnnparam=model.ncnn.param   ncnn's graph
  ncnnbin=model.ncnn.bin       ncnn's weights
  ncnnpy=model_ncnn.py         how to run it with ncnn
  fp16=1                       ncnn's weights in half precision
  optlevel=2                   0: as exported, 1: for inference, 2: more for inference
  inputshape=[1,3,224,224],... shapes of the inputs; a dtype may follow: [1,10]i64
  inputshape2=[1,3,96,96],...  other shapes: the dims that differ stay dynamic
  input=in0.npy,...            the same, taken from files
  input2=in1.npy,...           the same, taken from files
  device=cpu                   accepted: no model is run
  moduleop=models.Focus,...    classes of modules to keep as one operator each
  customop=fused.act,...       operators to keep and call, namespace.name each
Sample usage: pt2pnnx mobilenet_v2.pt2 inputshape=[1,3,224,224]
Reads what these versions save, and those between them:
"""
VERSIONS = Path(__file__).with_name("versions.txt")
"""Made of the fixtures, see docs/versions.md."""

Parse = Callable[[str, str], Any]


def text(key: str, value: str) -> str:
    if not value:
        raise UsageError(f"{key}= has no value")
    return value


def flag(key: str, value: str) -> bool:
    if value not in ("0", "1"):
        raise UsageError(f"{key}={value} is not 0 or 1")
    return value == "1"


def level(key: str, value: str) -> int:
    if value not in ("0", "1", "2"):
        raise UsageError(f"{key}={value} is not 0, 1 or 2")
    return int(value)


def words(key: str, value: str) -> list[str]:
    return text(key, value).split(",")


def device(key: str, value: str) -> None:
    if value not in ("cpu", "gpu"):
        raise UsageError(f"{key}={value} is not cpu or gpu")


def onnx(key: str, value: str) -> None:
    say(sys.stderr, "pnnxonnx: no ONNX file is written")


KEYS: Mapping[str, Parse] = {
    "pnnxparam": text,
    "pnnxbin": text,
    "pnnxpy": text,
    "pnnxonnx": onnx,
    "ncnnparam": text,
    "ncnnbin": text,
    "ncnnpy": text,
    "fp16": flag,
    "optlevel": level,
    "device": device,
    "inputshape": text,
    "inputshape2": text,
    "input": words,
    "input2": words,
    "customop": words,
    "moduleop": words,
}
"""What each key's value must look like; a parser that returns None is heard and leaves nothing."""


def parse(arguments: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """Split a command line into the model and the arguments of `convert`. Raises UsageError."""
    model, *rest = arguments
    options: dict[str, Any] = {}
    for word in rest:
        key, equals, value = word.partition("=")
        if not equals:
            raise UsageError(f"{word!r} is not key=value", mend="write key=value, without spaces")
        if key not in KEYS:
            from difflib import get_close_matches

            near = get_close_matches(key, KEYS, 1)
            raise UsageError(
                f"unknown key {key!r}",
                mend=f"did you mean {near[0]}?" if near else f"known are {', '.join(KEYS)}",
            )
        if key in options:
            raise UsageError(f"{key} is given twice")
        parsed = KEYS[key](key, value)
        if parsed is not None:
            options[key] = parsed
    return model, options


def report(converted: Converted) -> int:
    for file in converted.files:
        say(sys.stdout, str(file))
    for line in converted.statistics.lines() if converted.statistics else ():
        say(sys.stderr, line)
    notes = list(converted.notes)
    if converted.removed:
        names = ", ".join(str(file) for file in converted.removed)
        notes.append(f"removed {names}, which an earlier conversion had written")
    for note in notes:
        say(sys.stderr, f"pt2pnnx: note: {note}")
    if converted.ncnn_refusal is None:
        return 0
    say(sys.stderr, f"pt2pnnx: no ncnn files: {converted.ncnn_refusal}")
    return 1


def say(stream: TextIO | None, line: str) -> None:
    """Print one line, of what characters it may be. A stream that was closed takes none."""
    if stream is not None:
        encoding = stream.encoding or "ascii"
        text = line if line.isprintable() else one_line(line)
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")
        stream.flush()


def let_go(stream: TextIO | None) -> None:
    """What a stream does not take is lost; Python would complain of it at its end."""
    if stream is not None:
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program and return its exit status.

    0: all files are written. 1: what pnnx or ncnn cannot express is refused, and where that is ncnn
    only, pnnx's files are written; or what was done could not be printed. 2: the command line or
    the file is wrong, nothing is written.
    """
    if arguments is not None:
        return _run(arguments)
    # What a conversion makes lives almost all to the program's end: looking for what does not, in
    # between and at the end, would take a tenth of the time.
    gc.disable()
    end_cleanly()
    try:
        return _run(sys.argv[1:])
    finally:
        gc.freeze()


def _run(arguments: Sequence[str]) -> int:
    try:
        return _converted(arguments)
    except KeyboardInterrupt:
        return 130
    except OSError as error:  # of printing: files are the matter of ConvertErrors
        let_go(sys.stdout)
        let_go(sys.stderr)
        if not isinstance(error, BrokenPipeError):
            say(sys.stderr, f"pt2pnnx: cannot print: {error.strerror}")
        return 1


def _converted(arguments: Sequence[str]) -> int:
    if not arguments or not {"-h", "--help"}.isdisjoint(arguments):
        usage = USAGE + VERSIONS.read_text(encoding="utf-8")
        for line in usage.splitlines():
            say(sys.stdout if arguments else sys.stderr, line)
        return 0 if arguments else 2
    # NumPy would start threads for linear algebra, which takes longer than converting most models.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with undisturbed():  # some of what is imported would swallow an exception
        from converter.conversion import convert

    try:
        model, options = parse(arguments)
        return report(convert(model, **options))
    except (UnsupportedError, UnforeseenError) as error:
        say(sys.stderr, f"pt2pnnx: {arguments[0]}: {error}")
        return 1
    except ConvertError as error:
        say(sys.stderr, f"pt2pnnx: {error}")
        return 2


if __name__ == "__main__":
    sys.exit(main())
