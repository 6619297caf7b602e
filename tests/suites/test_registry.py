"""The register of cases: read as syntax it says what running the decorators says."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from suites import case as case_module
from suites.registry import RegistryError, discover, index


def write(root, text, file="functional/some.py"):
    path = root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return root


def test_what_is_read_is_what_runs():
    from suites.needs import lacking

    checked = 0
    for info in discover():
        if lacking(info.needs):
            continue
        importlib.import_module(info.module)
        case = case_module.CASES[info.name]
        for key in case_module.DEFAULTS:
            assert getattr(case, key) == getattr(info, key), f"{info.name}: {key}"
        assert case.cls.__module__ == info.module
        checked += 1
    assert checked
    loaded = {name for name, case in case_module.CASES.items()}
    assert loaded <= set(index()), "a case that planning does not see"


def test_discovery_imports_no_torch():
    code = (
        "import sys, suites.registry as r; assert r.discover(); "
        "assert not {'torch', 'ray'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_planned_arguments_and_defaults(tmp_path):
    write(
        tmp_path,
        "@case(inputs=[(1,)])\nclass A: ...\n\n"
        "@case(inputs=[x], targets=('pnnx', 'ncnn'), needs=('torchvision',), limit=5,\n"
        "      devices=('cpu',))\nclass B: ...\n\n"
        "@case(inputs=x, ncnn_inputs=[(1,)])\nclass C: ...\n\n"
        "@case(inputs=x, ncnn_inputs=[(1,)], targets=('ncnn',))\nclass D: ...\n",
        "transformers/some.py",
    )
    a, b, c, d = discover(root=tmp_path)
    assert (c.targets, d.targets) == (("pnnx", "ncnn"), ("ncnn",))
    assert (a.name, a.suite, a.file, a.line) == ("A", "transformers", "transformers/some.py", 2)
    assert a.targets == ("pnnx",)
    assert a.devices == ("cpu", "cuda")
    assert a.needs == ("transformers",)
    assert (b.targets, b.devices, b.limit) == (("pnnx", "ncnn"), ("cpu",), 5.0)
    assert b.needs == ("transformers", "torchvision")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "@case(inputs=[], limit=LIMIT)\nclass A: ...",
            "A: limit=LIMIT must be a literal",
        ),
        ("@case(inputs=[], limit=0)\nclass A: ...", "positive number of seconds"),
        ("@case(inputs=[], targets=('onnx',))\nclass A: ...", "targets=('onnx',) must be"),
        ("@case(inputs=[], devices='cpu')\nclass A: ...", "devices='cpu' must be"),
        ("@case(inputs=[], needs=('a', 1))\nclass A: ...", "requirement strings"),
        ("@case(**shared)\nclass A: ...", "takes no ** arguments"),
        ("@case\nclass A: ...", ":2: case A has no inputs"),
        ("\nclass A:", ":2: not Python: expected an indented block"),
        ("@case(inputs=[])\ndef a(): ...", "only a class at the top level"),
        ("if x:\n    @case(inputs=[])\n    class A: ...", ":3: only a class at the top level"),
    ],
)
def test_a_case_that_cannot_be_planned_is_refused_with_its_line(tmp_path, text, says):
    with pytest.raises(RegistryError) as error:
        discover(root=write(tmp_path, text))
    assert str(error.value).startswith("suites/functional/some.py:")
    assert says in str(error.value)


def test_every_fault_is_told(tmp_path):
    write(tmp_path, "@case(inputs=[])\nclass A: ...\n@case\nclass B: ...\n")
    write(tmp_path, "@case(inputs=[])\nclass A: ...\n", "modules/other.py")
    with pytest.raises(RegistryError) as error:
        discover(root=tmp_path)
    first, second = str(error.value).splitlines()
    assert first == "suites/functional/some.py:4: case B has no inputs: write @case(inputs=[...])"
    assert second.endswith("case A is also in suites/functional/some.py:2; rename one")


def test_an_unknown_suite_is_refused(tmp_path):
    write(tmp_path, "")
    with pytest.raises(RegistryError, match="no suite is called nothing; there are functional"):
        discover(["nothing"], root=tmp_path)


def test_deliberately_wrong_cases_are_found_only_by_name(tmp_path):
    write(tmp_path, "@case(inputs=[])\nclass Wrong: ...\n", "selfcheck/some.py")
    assert discover(root=tmp_path) == []
    assert [info.name for info in discover(["selfcheck"], root=tmp_path)] == ["Wrong"]
