"""Complex tensors: made, taken apart, seen as pairs, and computed with."""

import torch
import torch.nn as nn

from suites.case import Input, case

COMPLEX = [
    Input((5,), "complex64"),
    Input((3, 16), "complex64"),
    Input((1, 5, 9, 11), "complex64"),
    Input((3, 4), "complex128"),
]


@case(inputs=[(3, 16), (3, 16), (1, 5, 9, 11), (5, 1, 11), *[Input((3, 4), "float64")] * 2])
class torch_complex(nn.Module):
    """Of two tensors of the same shape, of ones that are broadcast, and in double precision."""

    def forward(self, x, y, z, w, a, b):
        return (
            torch.complex(x, y),
            torch.complex(real=z, imag=w),
            torch.complex(x - 0.5, y[:1]).abs(),
            torch.complex(a, b),
        )


@case(inputs=COMPLEX)
class torch_real(nn.Module):
    def forward(self, x, y, z, d):
        return torch.real(x), torch.real(y) * 2, z.real, torch.real(d)


@case(inputs=COMPLEX)
class torch_imag(nn.Module):
    def forward(self, x, y, z, d):
        return torch.imag(x), torch.imag(y) * 2, z.imag, torch.imag(d)


@case(inputs=[(2,), (3, 16, 2), (1, 5, 9, 11, 2), Input((3, 4, 2), "float64"), (1, 2, 3, 8)])
class torch_view_as_complex(nn.Module):
    """The last dim holds pairs, from the start or after a reshape."""

    def forward(self, x, y, z, d, w):
        return (
            torch.view_as_complex(x),
            torch.view_as_complex(y * 2 - 1),
            torch.view_as_complex(z).abs(),
            torch.view_as_complex(d),
            torch.view_as_complex(w.reshape(1, 2, 3, 4, 2)),
        )


@case(inputs=COMPLEX)
class torch_view_as_real(nn.Module):
    def forward(self, x, y, z, d):
        return (
            torch.view_as_real(x),
            torch.view_as_real(y * 2),
            torch.view_as_real(z).sum(-1),
            torch.view_as_real(d),
        )


@case(inputs=[*COMPLEX[1:3], (3, 16), (1, 5, 9, 11, 2)], proves=("pnnx.complex",))
class ir_complex(nn.Module):
    """Complex numbers and tensors wherever a model may hold them.

    As inputs and outputs, as stored tensors, as the numbers of an expression and as what a tensor
    is filled with; mixed with real tensors.
    """

    def __init__(self):
        super().__init__()
        self.register_buffer("turn", torch.polar(torch.ones(16), torch.linspace(0, 3, 16)))

    def forward(self, x, y, z, w):
        turned = torch.view_as_complex(w) * (1 + 2j)
        return (
            x * self.turn,
            torch.matmul(x, (z * 2j).t()),
            x + (2 - 3j),
            z * 1j,
            z + x,
            turned,
            torch.view_as_real(turned - y),
            y.abs() + y.real - y.imag,
            torch.full((2, 3), 0.5 - 1.5j) + x[:2, :3],
        )
