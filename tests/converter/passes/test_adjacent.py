"""Neighbouring permutations and changes of shape."""

from __future__ import annotations

import numpy as np
from graphs import assert_becomes, assert_stays, graph
from hypothesis import given
from hypothesis import strategies as st

from converter.passes.adjacent import MergePermutes, MergeReshapes

SHAPE = (2, 3, 4, 5)

permutes = st.permutations(range(4)).flatmap(
    lambda dims: st.lists(st.booleans(), min_size=4, max_size=4).map(
        lambda signs: tuple(dim - 4 * sign for dim, sign in zip(dims, signs, strict=True))
    )
)
transposes = st.tuples(st.integers(-4, 3), st.integers(-4, 3))


def text(shape: tuple[int, ...]) -> str:
    return f"({','.join(map(str, shape))})"


@given(st.lists(st.one_of(permutes, transposes), min_size=2, max_size=4))
def test_a_chain_of_permutations_is_the_permutation_that_numpy_makes(chain):
    array = np.arange(120).reshape(SHAPE)
    lines = [f"pnnx.Input in 0 1 v0 #v0={text(SHAPE)}f32"]
    moved = array
    for number, dims in enumerate(chain):
        before = text(moved.shape)
        if len(dims) == 2:
            moved = moved.swapaxes(*dims)
            op, params = "torch.transpose", f"dim0={dims[0]} dim1={dims[1]}"
        else:
            moved = moved.transpose(dims)
            op, params = "Tensor.permute", f"dims={text(dims)}"
        types = f"#v{number}={before}f32 #v{number + 1}={text(moved.shape)}f32"
        lines.append(f"{op} t{number} 1 1 v{number} v{number + 1} {params} {types}")
    made = graph("\n".join([*lines, f"pnnx.Output out 1 0 v{len(chain)}"]))
    assert MergePermutes()(made) == len(chain) - 1
    (op,) = made.of_type("Tensor.permute")
    assert np.array_equal(array.transpose(op.params["dims"]), moved)


def test_changes_of_shape_become_the_last_one():
    assert_becomes(
        MergeReshapes(),
        graph(
            """
            pnnx.Input in 0 1 x #x=(6,4)f32
            torch.unsqueeze u 1 1 x a dim=0 $input=x #x=(6,4)f32 #a=(1,6,4)f32
            Tensor.reshape r 1 1 a b shape=(1,24) $input=a #a=(1,6,4)f32 #b=(1,24)f32
            torch.squeeze s 1 1 b y dim=0 $input=b #b=(1,24)f32 #y=(24)f32
            pnnx.Output out 1 0 y #y=(24)f32
            """
        ),
        """
        pnnx.Input in 0 1 x #x=(6,4)f32
        Tensor.reshape s 1 1 x y shape=(24) $input=x #x=(6,4)f32 #y=(24)f32
        pnnx.Output out 1 0 y #y=(24)f32
        """,
    )


def test_a_shape_that_others_read_stays():
    assert_stays(
        MergeReshapes(),
        """
        pnnx.Input in 0 1 x #x=(6,4)f32
        torch.unsqueeze u 1 1 x a dim=0 #x=(6,4)f32 #a=(1,6,4)f32
        Tensor.reshape r 1 1 a y shape=(24) #a=(1,6,4)f32 #y=(24)f32
        pnnx.Output out 2 0 y a
        """,
    )


def test_a_result_without_dims_stays_as_it_is_written():
    assert_stays(
        MergeReshapes(),
        """
        pnnx.Input in 0 1 x #x=(1,1)f32
        torch.squeeze s 1 1 x a dim=0 #x=(1,1)f32 #a=(1)f32
        torch.squeeze t 1 1 a y dim=0 #a=(1)f32
        pnnx.Output out 1 0 y
        """,
    )
