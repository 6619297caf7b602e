"""Matrix products, attention, recurrent layers, Fourier transforms, linear algebra, losses."""

from __future__ import annotations

import torch
from equality import AS_EXPORTED, ROUNDED, check, convert, refusal, words
from torch import nn

torch.manual_seed(0)
x = torch.randn(2, 3, 4)
y = torch.randn(2, 4, 5)
square = torch.randn(4, 4)
matrix = torch.randn(3, 4)
line = torch.randn(4)
ints = torch.randint(-3, 4, (3, 4))
wave = torch.complex(torch.randn(3, 4), torch.randn(3, 4))


def test_products() -> None:
    check(
        "x @ y, torch.matmul(x, square), torch.matmul(line, square), line @ line, x @ line",
        "x.bmm(y)",
        "matrix.mm(square), matrix.mv(line), line.dot(line), torch.outer(line, line[:2])",
        "torch.ger(line, line)",
        "torch.vdot(line, line), torch.inner(matrix, line), torch.inner(matrix, matrix)",
        "torch.kron(line, matrix)",
        "torch.addmm(matrix[:, :1], matrix, square)",
        "torch.addmm(matrix, matrix, square, beta=0.3, alpha=2)",
        "torch.addmv(line[:3], matrix, line)",
        "torch.addmv(line[:3], matrix, line, beta=0.5, alpha=2)",
        "torch.addr(matrix, line[:3], line), torch.addr(matrix, line[:3], line, beta=0.5, alpha=2)",
        "torch.baddbmm(x[:, :, :1], x, y), torch.baddbmm(x[:, :, :1], x, y, beta=0.5, alpha=2)",
        "torch.addbmm(matrix[:, :1], x, y), torch.addbmm(matrix[:, :1], x, y, beta=2, alpha=0.5)",
        "torch.tensordot(x, y[0], 1), torch.tensordot(x, y, ([2, 0], [1, 0])), torch.trace(square)",
        "torch.einsum('bij,bjk->bik', x, y), torch.einsum('ii', square)",
        "torch.einsum('ii->i', square)",
        "torch.einsum('...i,ij', x, square), torch.einsum('i,j->ij', line, line)",
        "torch.einsum('bij->b', x)",
        "torch.chain_matmul(matrix, square, square)",
        "torch.linalg.multi_dot([matrix, square, line])",
        "torch.linalg.matmul(x, y), torch.linalg.vecdot(matrix, matrix, dim=0)",
        "torch.linalg.cross(x[:, :, :3], x[:, :, 1:])",
        "torch.cross(x, x.flip(0), dim=1), torch.cross(matrix, matrix.flip(1), 0)",
        "ints @ ints.t(), wave @ wave.mT",
        "torch.linalg.matrix_power(square, 3), torch.linalg.vander(line)",
        "torch.linalg.matrix_exp(square)",
        "F.linear(x, matrix), F.linear(x, matrix, line[:3]), F.linear(line, matrix)",
        "F.linear(x, line), layer(x)",
        "F.bilinear(matrix, matrix, cube), F.bilinear(matrix, matrix, cube, line[:2])",
        "pair(matrix, matrix)",
        x=x,
        y=y,
        square=square,
        matrix=matrix,
        line=line,
        ints=ints,
        wave=wave,
        cube=torch.randn(2, 4, 4),
        layer=nn.Linear(4, 3),
        pair=nn.Bilinear(4, 4, 2),
    )


LINALG = (
    "torch.linalg.inv(square)",
    "torch.linalg.inv_ex(square)",
    "torch.inverse(square)",
    "torch.linalg.det(square)",
    "torch.det(square)",
    "torch.logdet(square)",
    "torch.slogdet(square)",
    "torch.linalg.slogdet(square)",
    "torch.linalg.solve(square, square)",
    "torch.linalg.cholesky(square)",
    "torch.linalg.cholesky_ex(square)",
    "torch.linalg.qr(square)",
    "torch.linalg.svd(square, full_matrices=False)",
    "torch.linalg.svdvals(square)",
    "torch.linalg.eigh(square)",
    "torch.linalg.eigvalsh(square)",
    "torch.linalg.eig(square)",
    "torch.linalg.eigvals(square)",
    "torch.linalg.pinv(square)",
    "torch.linalg.matrix_rank(square)",
    "torch.linalg.lu(square)",
    "torch.linalg.lu_factor(square)",
    "torch.linalg.solve_triangular(square, square, upper=True)",
    "torch.linalg.cond(square, 1)",
    "torch.linalg.tensorinv(square.reshape(2, 2, 2, 2))",
    "torch.cholesky_solve(square, square)",
    "torch.triangular_solve(square, square)",
    "torch.cholesky(square)",
    "torch.cholesky_inverse(square)",
    "torch.geqrf(square)",
    "torch.qr(square)",
    "torch.svd(square)",
    "torch.pinverse(square)",
    "torch.ormqr(square, square[0], square)",
    "torch.lu_unpack(*torch.linalg.lu_factor(square))",
    "torch.lu_solve(square, *torch.linalg.lu_factor(square))",
    "torch.linalg.lu_solve(*torch.linalg.lu_factor(square), square)",
    "torch.linalg.lu_factor_ex(square)",
    "torch.linalg.ldl_factor(square)",
    "torch.linalg.ldl_factor_ex(square)",
    "torch.linalg.ldl_solve(*torch.linalg.ldl_factor(square), square)",
    "torch.linalg.solve_ex(square, square)",
    "torch.linalg.householder_product(square, square[0])",
    "torch.linalg.cond(square, 'fro')",
    "torch.linalg.matrix_rank(square, 0.1)",
    "torch.linalg.matrix_rank(square, square[0, 0])",
    "torch.linalg.matrix_rank(square, atol=0.1)",
    "torch.linalg.pinv(square, 0.1)",
    "torch.linalg.pinv(square, square[0, 0])",
    "torch.linalg.pinv(square, atol=0.1)",
    "torch.linalg.tensorsolve(square.reshape(2, 2, 4), square[:2, :2])",
)


def test_decompositions_of_matrices_convert() -> None:
    """Not every build of PyTorch can compute them, so that only conversion is checked here."""

    class Decompositions(nn.Module):
        def forward(self, square: torch.Tensor) -> list[torch.Tensor]:
            results = [eval(text, {"torch": torch, "square": square}) for text in LINALG]
            return [t for r in results for t in (r if isinstance(r, tuple) else (r,))]

    convert(torch.export.export(Decompositions(), (square,)))


def test_attention() -> None:
    q, k, v = torch.randn(2, 4, 5, 8), torch.randn(2, 2, 6, 8), torch.randn(2, 2, 6, 8)
    attend = "F.scaled_dot_product_attention"
    check(
        f"{attend}(q, q, q), {attend}(q, q, q, is_causal=True), {attend}(q, q, q, scale=0.3)",
        f"{attend}(q[:, :2], k, v, mask), {attend}(q[:, :2], k, v, mask > 0)",
        f"{attend}(q, k, v, enable_gqa=True)",
        f"{attend}(q[:, :2], k, v, mask, scale=0.2), {attend}(q[0], q[0], q[0])",
        q=q,
        k=k,
        v=v,
        mask=torch.randn(5, 6),
    )


def test_attention_modules() -> None:
    """A module that is recovered chooses between its own and the fused kernels in another way."""
    check(
        "many(s, s, s)[0], many(s, s, s), first(t, t, t, need_weights=False)[0]",
        "many(s, s, s, average_attn_weights=False), many(s, m, m, key_padding_mask=pad)[0]",
        s=torch.randn(3, 2, 8),
        m=torch.randn(4, 2, 8),
        t=torch.randn(2, 3, 8),
        pad=torch.tensor([[False, False, False, True], [False] * 4]),
        many=nn.MultiheadAttention(8, 2),
        first=nn.MultiheadAttention(8, 2, batch_first=True),
        how=ROUNDED,
    )


def test_attention_with_dropout_is_refused() -> None:
    expression = "F.scaled_dot_product_attention(x, x, x, dropout_p=0.5)"
    assert "so that it is random" in refusal(expression, x=x)


def test_recurrent_layers() -> None:
    sequence = torch.randn(5, 2, 4)
    check(
        "lstm(sequence), lstm(sequence, (h, h * 2)), both(sequence), projected(sequence)",
        "gru(sequence), gru(sequence, h), deep(sequence.transpose(0, 1)), rnn(sequence)",
        "relu(sequence)",
        "lstm(sequence[:, 0]), gru(sequence)[0], lstm(sequence)[1][0], unbiased(sequence)",
        sequence=sequence,
        h=torch.randn(1, 2, 6),
        lstm=nn.LSTM(4, 6),
        both=nn.LSTM(4, 6, 2, bidirectional=True, dropout=0.5),
        projected=nn.LSTM(4, 6, proj_size=3),
        gru=nn.GRU(4, 6),
        deep=nn.GRU(4, 6, 2, batch_first=True, bidirectional=True),
        rnn=nn.RNN(4, 6),
        relu=nn.RNN(4, 6, nonlinearity="relu"),
        unbiased=nn.LSTM(4, 6, bias=False),
        how=AS_EXPORTED,
    )


def test_recurrent_cells() -> None:
    check(
        "lstm(matrix), lstm(matrix, (h, h * 2)), gru(matrix), gru(matrix, h), rnn(matrix, h)",
        "relu(matrix)",
        "lstm(line), lstm(matrix)[1]",
        matrix=matrix,
        line=line,
        h=torch.randn(3, 6),
        lstm=nn.LSTMCell(4, 6),
        gru=nn.GRUCell(4, 6),
        rnn=nn.RNNCell(4, 6, bias=False),
        relu=nn.RNNCell(4, 6, nonlinearity="relu"),
    )


def test_fourier_transforms() -> None:
    options = ("", ", norm='ortho'", ", norm='forward'")
    check(
        *[
            f"torch.fft.{name}(x{o}), torch.fft.{name}(x, 3, 1{o})"
            for name in ("fft", "ifft", "rfft", "ihfft")
            for o in options
        ],
        *[
            f"torch.fft.{name}(wave{o}), torch.fft.{name}(wave, 5, 0{o})"
            for name in ("fft", "ifft", "irfft", "hfft")
            for o in options
        ],
        *[
            f"torch.fft.{name}{n}(x{o})"
            for name in ("fft", "ifft", "rfft", "ihfft")
            for n in "2n"
            for o in options
        ],
        *[
            f"torch.fft.{name}{n}(wave{o})"
            for name in ("fft", "ifft", "irfft", "hfft")
            for n in "2n"
            for o in options
        ],
        "torch.fft.fft2(x, (2, 6)), torch.fft.fftn(x, dim=(0, 2))",
        "torch.fft.rfftn(x, (3, 5), (1, 2)), torch.fft.fftn(x)",
        "torch.fft.irfftn(wave, (3, 5)), torch.fft.irfft2(wave, (4, 5)), torch.fft.fftshift(x)",
        "torch.fft.ifftshift(x, 1)",
        "torch.fft.fft(x.double()), torch.fft.rfft(x.double(), dim=0)",
        "torch.fft.fftshift(x, (0, 2))",
        x=x,
        wave=wave,
    )


def test_short_time_transforms() -> None:
    check(
        "torch.stft(x, 8, return_complex=True)",
        "torch.stft(x[0], 8, 4, 6, window, return_complex=True)",
        "torch.stft(x, 8, window=wide, center=False, return_complex=True)",
        "torch.stft(x, 8, normalized=True, onesided=False, return_complex=True)",
        "torch.stft(x, 8, pad_mode='constant', return_complex=True)",
        "torch.view_as_real(torch.stft(x, 8, return_complex=True))",
        "torch.istft(torch.stft(x, 8, window=wide, return_complex=True), 8, window=wide)",
        "torch.istft(torch.stft(x, 8, window=wide, return_complex=True), 8, length=38)",
        x=torch.randn(2, 40),
        window=torch.hann_window(6),
        wide=torch.hann_window(8),
    )


def test_losses() -> None:
    logits, target = torch.randn(3, 5), torch.tensor([1, 0, 4])
    check(
        *[
            f"F.{name}(a, b, reduction='{reduction}')"
            for name in words("mse_loss l1_loss smooth_l1_loss huber_loss soft_margin_loss")
            for reduction in ("mean", "sum", "none")
        ],
        "F.smooth_l1_loss(a, b, beta=0.5), F.huber_loss(a, b, delta=0.5), F.mse_loss(a, b[:1])",
        "F.cross_entropy(logits, target)",
        "F.cross_entropy(logits, target, weights, reduction='sum')",
        "F.cross_entropy(logits, target, label_smoothing=0.1)",
        "F.cross_entropy(logits, logits.softmax(1))",
        "F.cross_entropy(image, target[:2, None, None].expand(2, 2, 2), ignore_index=0)",
        "F.nll_loss(logits.log_softmax(1), target)",
        "F.nll_loss(logits, target, weights, ignore_index=1)",
        "F.nll_loss(image, target[:2, None, None].expand(2, 2, 2), reduction='none')",
        "F.binary_cross_entropy(a.sigmoid(), b.sigmoid())",
        "F.binary_cross_entropy(a.sigmoid(), b.sigmoid(), b.abs())",
        "F.binary_cross_entropy_with_logits(a, b.sigmoid())",
        "F.binary_cross_entropy_with_logits(a, b.sigmoid(), pos_weight=weights[:4])",
        "F.kl_div(a, b.sigmoid()), F.kl_div(a, b, reduction='batchmean', log_target=True)",
        "F.hinge_embedding_loss(a, sign), F.hinge_embedding_loss(a, sign, 0.5, reduction='sum')",
        "F.margin_ranking_loss(a, b, sign), F.margin_ranking_loss(a, b, sign, 0.3)",
        "F.cosine_embedding_loss(a, b, sign[:, 0]), F.cosine_embedding_loss(a, b, sign[:, 0], 0.3)",
        "F.triplet_margin_loss(a, b, a.flip(0))",
        "F.triplet_margin_loss(a, b, a.flip(0), 0.5, 1, swap=True)",
        "F.multi_margin_loss(logits, target), F.multi_margin_loss(logits, target, 2, 0.5, weights)",
        "F.multilabel_margin_loss(logits, logits.argsort(1)), F.poisson_nll_loss(a, b.abs())",
        "F.poisson_nll_loss(a.abs(), b.abs(), log_input=False, full=True)",
        "F.multilabel_soft_margin_loss(a, b.sigmoid()), F.l1_loss(a, b)",
        a=torch.randn(3, 4),
        b=torch.randn(3, 4),
        sign=torch.tensor([[1.0, -1.0, 1.0, -1.0]] * 3),
        logits=logits,
        target=target,
        weights=torch.rand(5),
        image=torch.randn(2, 5, 2, 2),
    )
