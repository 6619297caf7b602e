"""Source lines and module stacks, from torch's texts and from hostile ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from converter.archive.program import ModuleFrame
from converter.archive.trace import module_stack, source
from converter.errors import Where

USER = 'File "/home/me/net.py", line 9, in forward\n    x = self.act(self.conv(x))'
LIBRARY = (
    '  File "/usr/lib/python3/site-packages/torchvision/ops/misc.py", line 7, in forward\n'
    "    return self.block(x)"
)
TORCH = (
    '  File "/usr/lib/python3/site-packages/torch/nn/modules/conv.py", line 565, in forward\n'
    "    return self._conv_forward(input, self.weight, self.bias)"
)


@pytest.mark.parametrize(
    ("trace", "expected"),
    [
        ("", None),
        ("no frame at all", None),
        (USER, Where("/home/me/net.py", 9, "x = self.act(self.conv(x))")),
        (f"{USER}\n{TORCH}", Where("/home/me/net.py", 9, "x = self.act(self.conv(x))")),
        (
            f"{USER}\n{LIBRARY}\n{TORCH}",
            Where(
                "/usr/lib/python3/site-packages/torchvision/ops/misc.py", 7, "return self.block(x)"
            ),
        ),
        (
            TORCH,
            Where(
                "/usr/lib/python3/site-packages/torch/nn/modules/conv.py",
                565,
                "return self._conv_forward(input, self.weight, self.bias)",
            ),
        ),
        (
            'File "C:\\net.py", line 2, in forward\n    y = F.relu(x)\n'
            '  File "C:\\py\\torch\\nn\\functional.py", line 3, in relu\n    return torch.relu(x)',
            Where("C:\\net.py", 2, "y = F.relu(x)"),
        ),
        ('File "/home/me/torch/net.py", line 1, in f', Where("/home/me/torch/net.py", 1)),
        ('File "<eval_with_key>.3", line 5, in forward', None),
        (
            'File "m.py", line 2, in g\n    y\n'
            '  File "/a/site-packages/torch/overrides.py", line 3, in h',
            Where("m.py", 2, "y"),
        ),
        (
            'File "a.py", line 1, in f\n    x = (\n    ^^^^\n  File "b.py", line 2, in g\n    y',
            Where("b.py", 2, "y"),
        ),
        ('File "a\x1b[2J.py", line 1, in f\n    \x07x', Where("a?[2J.py", 1, "?x")),
    ],
)
def test_source(trace: str, expected: Where | None) -> None:
    assert source(trace, ()) == expected


def test_source_names_the_module() -> None:
    found = source(USER, (ModuleFrame("", "Net"), ModuleFrame("conv", "Conv2d")))
    assert found is not None
    assert found.module == "conv"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        (
            "L__self__,,net.Net;L__self__conv,conv,torch.nn.modules.conv.Conv2d",
            (
                ModuleFrame("", "net.Net", "L__self__"),
                ModuleFrame("conv", "torch.nn.modules.conv.Conv2d", "L__self__conv"),
            ),
        ),
        ("a,b[1,2],c", (ModuleFrame("b[1,2]", "c", "a"),)),
        ("a,b,net.make.<locals>.Net", (ModuleFrame("b", "net.make.<locals>.Net", "a"),)),
        ("a,b;c,d,e", (ModuleFrame("d", "e", "c"),)),
        (";;,", ()),
        ("a)),b,c", ()),
    ],
)
def test_module_stack(text: str, expected: tuple[ModuleFrame, ...]) -> None:
    assert module_stack(text) == expected


hostile = (
    st.text(st.sampled_from('File "/torch/nn", line 1, in f\n\t;,([])a9\x00\u2028')) | st.text()
)


@given(hostile)
def test_never_fails(text: str) -> None:
    for frame in module_stack(text):
        assert "".join(frame).isprintable()
    where = source(text, module_stack(text))
    if where is not None:
        assert str(where).isprintable()


@pytest.mark.parametrize(
    "text",
    ['File "' * 100_000, " " * 1_000_000, 'File "a", line 1, in f\n' * 50_000, "(" * 1_000_000],
)
def test_takes_linear_time(text: str) -> None:
    source(text, module_stack(text))
