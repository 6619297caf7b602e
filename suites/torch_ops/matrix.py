"""Products of matrices."""

import torch
import torch.nn as nn

from suites.case import case


@case(
    inputs=[
        *[(13,), (13,)],
        *[(11, 13), (13, 4)],
        *[(3, 11, 13), (3, 13, 4)],
        *[(1, 5, 11, 13), (2, 1, 13, 4)],
    ],
    targets=("pnnx", "ncnn"),
)
class torch_matmul(nn.Module):
    """Vectors, matrices and batches of them, batches broadcast against each other."""

    def forward(self, v, w, a, b, c, d, e, f):
        return (
            torch.matmul(v, w),
            torch.matmul(a, v),
            torch.matmul(v, b),
            torch.matmul(a, b),
            torch.matmul(c, d),
            c @ b,
            c.matmul(v),
            torch.matmul(a, d),
            torch.matmul(e, f),
            e @ d[0],
            torch.matmul(a, d.transpose(1, 2).transpose(-1, -2)),
        )


@case(inputs=[(11, 13), (13, 4), (4, 13)], targets=("pnnx", "ncnn"))
class torch_mm(nn.Module):
    def forward(self, x, y, z):
        return torch.mm(x, y), x.mm(z.t()), torch.mm(z.t(), x[:4, :7])


@case(inputs=[(10, 11, 13), (10, 13, 4), (10, 4, 13)], targets=("pnnx", "ncnn"))
class torch_bmm(nn.Module):
    def forward(self, x, y, z):
        return torch.bmm(x, y), x.bmm(z.transpose(1, 2)), torch.bmm(z, x.transpose(-1, -2))


@case(inputs=[(11, 4), (11, 13), (13, 4), (4,), (1, 4)], targets=("pnnx", "ncnn"))
class torch_addmm(nn.Module):
    """What is added may be broadcast; both terms may be scaled."""

    def forward(self, x, y, z, row, line):
        return (
            torch.addmm(x, y, z),
            torch.addmm(x, y, z, beta=1.4, alpha=0.7),
            torch.addmm(row, y, z),
            torch.addmm(line, y, z, beta=2),
            x.addmm(y, z, alpha=0.5),
        )


@case(inputs=[(11, 13), (13, 4), (3, 5, 11, 13), (3, 5, 7, 13), (13,)], targets=("pnnx", "ncnn"))
class torch_einsum(nn.Module):
    def forward(self, x, y, z, w, v):
        return (
            torch.einsum("ij,jk->ik", x, y),
            torch.einsum("ij->ji", x),
            torch.einsum("ij,j->i", x, v),
            torch.einsum("i,j->ij", v, y[:, 0]),
            torch.einsum("bhid,bhjd->bhij", z, w),
            torch.einsum("bhid,dk->bhik", z, y),
            torch.einsum("bhid,bhjd->bhij", (z, w)),
        )
