"""The operators that random models are composed of: one row each.

A row is a line of Python with placeholders, `{name:kind}`. The kinds are in `placeholders.py`; a
name, which may be left out, is for using what was drawn again. `module <- arguments` makes a module
in the constructor and calls it. The first tensor is what the other placeholders refer to: `{:dim}`
is one of its dims, `{:like}` a tensor that broadcasts with it. What PyTorch refuses of what was
drawn is left out, so that a row need not say everything that it needs.

A family is chosen first, then a row of it: the number of its rows does not make it likelier.
"""

from __future__ import annotations

from collections.abc import Mapping

FAMILIES: Mapping[str, str] = {
    "arithmetic": """
        {x:number} + {:like}
        {x:number} - {:like}
        {x:number} * {:like}
        {x:number} / {:like}
        {x:number} + {:scalar}
        {:scalar} - {x:number}
        {x:number} * {:scalar}
        {:scalar} / {x:float}
        {x:number} // {:count}
        {x:number} % {:count}
        {x:float} ** {:exponent}
        torch.add({x:number}, {:like}, alpha={:count})
        torch.sub({x:number}, {:scalar}, alpha={:count})
        torch.rsub({x:float}, {:scalar})
        torch.div({x:number}, {:like}, rounding_mode={:rounding})
        torch.div({x:number}, {:count}, rounding_mode={:rounding})
        torch.fmod({x:float}, {:count})
        torch.remainder({x:number}, {:count})
        torch.floor_divide({x:int}, {:count})
        torch.maximum({x:number}, {:like})
        torch.minimum({x:number}, {:like})
        torch.atan2({x:float}, {:like})
        torch.hypot({x:float}, {:same})
        torch.addcmul({x:float}, {:like}, {:like}, value={:scalar})
        torch.addcdiv({x:float}, {:like}, {:count} + {:like}.abs())
        torch.lerp({x:float}, {:same}, {:fraction})
        torch.logaddexp({x:float}, {:like})
        torch.square({x:number})
        torch.fmax({x:float}, {:like})
        torch.copysign({x:float}, {:like})
        torch.xlogy({x:float}, {:like}.abs() + 1)
        torch.float_power({x:number}, 2)
        {x:float} * {x} + {x}
        ({x:float} + {:scalar}) * {:like} - {x} / {:count}
    """,
    "unbatched": """
        nn.Conv2d({:first}, 4, 3, padding=1) <- {x:signal}
        nn.Conv1d({:first}, 4, 3, padding=1) <- {x:table}
        nn.ConvTranspose2d({:first}, 2, 2, stride=2) <- {x:signal}
        nn.Conv3d({:first}, 2, (1, 2, 2)) <- {x:image}
        F.conv_transpose1d({x:table}, {:firsts}, stride=2)
        F.max_pool2d({x:signal}, 2)
        F.max_pool1d({x:table}, 2)
        F.avg_pool2d({x:signal}, 2, padding=1)
        F.adaptive_avg_pool2d({x:signal}, (2, 1))
        F.adaptive_max_pool1d({x:table}, 2)
        nn.InstanceNorm1d({:first}) <- {x:table}
        F.pad({x:signal}, (1, 1, 1, 0), mode={:mode})
        F.pad({x:table}, (1, 1), mode={:mode})
        F.pixel_shuffle({x:volume}, 2)
        nn.LSTM({:last}, 3) <- {x:table}
        nn.GRU({:last}, 3, bidirectional=True) <- {x:table}
        nn.RNN({:last}, 3, batch_first=True) <- {x:table}
        nn.LSTM({:last}, 3) <- {x:sequence}, ({:state3}, {:state3})
        nn.GRU({:last}, 3) <- {x:sequence}, {:state3}
        nn.GRUCell({:last}, 3) <- {x:floats1}
        nn.MultiheadAttention({:last}, 1) <- {x:table}, {x}, {x}
        F.scaled_dot_product_attention({x:table}, {x}, {x})
        nn.Linear({:last}, 3) <- {x:floats1}
        {x:floats1} @ {x}
        {x:table} @ {x}[0]
        {x:floats1} @ {:rows}.t()
        torch.mv({x:table}, {x}[0])
    """,
    "constants": """
        torch.arange(6).reshape(2, 3)
        torch.arange(-4, 5, 2, dtype={:dtype})
        torch.arange({:count}, 7, {:scalar})
        torch.full((2, 3), {:scalar})
        torch.full((3,), {:scalar}, dtype={:dtype})
        torch.ones(3, dtype={:dtype})
        torch.zeros(1, 3, 1)
        torch.linspace(0, 1, 5)
        torch.eye(3)
        torch.tensor({:scalar})
        torch.tensor([[1, -2, 300], [4, 5, 6]], dtype={:dtype})
        torch.tensor([0.5, -1.5, 2.5])
        torch.tensor([True, False, True])
        {:buffer}
        {:buffer}
    """,
    "functions": """
        torch.abs({x:number})
        torch.neg({x:number})
        torch.exp({x:float} * {:fraction})
        torch.log({x:float}.abs() + 1)
        torch.log2({x:float}.abs() + 1)
        torch.log1p({x:float}.abs())
        torch.sqrt({x:float}.abs())
        torch.rsqrt({x:float}.abs() + 1)
        torch.reciprocal({x:float} + {:count})
        torch.sin({x:number})
        torch.cos({x:float})
        torch.tan({x:float} * {:fraction})
        torch.atan({x:float})
        torch.sinh({x:float} * {:fraction})
        torch.erf({x:float})
        torch.expm1({x:float} * {:fraction})
        torch.ceil({x:float})
        torch.floor({x:float})
        torch.round({x:float})
        torch.trunc({x:float})
        torch.frac({x:float})
        torch.sign({x:number})
        torch.sgn({x:number})
        torch.clamp({x:number}, {:low}, {:high})
        torch.clamp({x:number}, min={:low})
        {x:number}.clamp(max={:high})
        torch.clamp({x:float}, min={:like})
        torch.nan_to_num({x:float})
        torch.logit({x:float}, eps=0.1)
        torch.round({x:float}, decimals=1)
        torch.exp2({x:float} * {:fraction})
        torch.sinc({x:float})
        torch.deg2rad({x:float})
        torch.erfc({x:float})
        torch.lgamma({x:float}.abs() + 1)
        torch.positive({x:number})
        torch.special.expit({x:float})
    """,
    "activations": """
        F.relu({x:float})
        F.relu6({x:float})
        F.leaky_relu({x:float}, {:fraction})
        F.elu({x:float}, {:fraction})
        F.celu({x:float})
        F.selu({x:float})
        F.gelu({x:float})
        F.gelu({x:float}, approximate="tanh")
        F.silu({x:float})
        F.mish({x:float})
        F.hardswish({x:float})
        F.hardsigmoid({x:float})
        F.hardtanh({x:float}, {:low}, {:high})
        F.softplus({x:float})
        F.softsign({x:float})
        F.softshrink({x:float})
        F.hardshrink({x:float})
        F.tanhshrink({x:float})
        F.logsigmoid({x:float})
        F.threshold({x:float}, {:fraction}, {:scalar})
        torch.sigmoid({x:float})
        torch.tanh({x:float})
        F.softmax({x:float}, dim={:dim})
        F.log_softmax({x:float}, dim={:dim})
        F.softmin({x:float}, dim={:dim})
        F.glu({x:float}, dim={:dim})
        F.normalize({x:float}, dim={:dim})
        F.dropout({x:float}, 0.5, self.training)
        nn.ReLU() <- {x:float}
        nn.GELU() <- {x:float}
        nn.SiLU() <- {x:float}
        nn.Hardswish() <- {x:float}
        nn.PReLU() <- {x:float}
        nn.PReLU({:channels}) <- {x:image}
        nn.Softmax(dim={:dim}) <- {x:float}
        nn.Dropout() <- {x:float}
        nn.Identity() <- {x:any}
        nn.Softplus(beta=2) <- {x:float}
        nn.LeakyReLU({:fraction}) <- {x:float}
    """,
    "reductions": """
        {x:number}.sum()
        {x:number}.sum({:dim}, keepdim={:flag})
        {x:number}.sum({:dims})
        {x:float}.mean()
        {x:float}.mean({:dims}, keepdim={:flag})
        {x:number}.amax({:dims}, keepdim={:flag})
        {x:number}.amin({:dim}, keepdim={:flag})
        {x:number}.max()
        {x:number}.max({:dim}, keepdim={:flag})
        {x:number}.min({:dim})
        {x:number}.argmax({:dim}, keepdim={:flag})
        {x:number}.argmin()
        {x:number}.prod({:dim})
        {x:float}.std({:dims}, keepdim={:flag})
        {x:float}.std(unbiased={:flag})
        {x:float}.var({:dim}, unbiased={:flag}, keepdim={:flag})
        {x:float}.var({:dims}, correction={:count})
        torch.var_mean({x:float}, {:dims}, keepdim={:flag})
        torch.std_mean({x:float}, {:dim})
        {x:float}.norm()
        {x:float}.norm(p={:count}, dim={:dim}, keepdim={:flag})
        torch.linalg.vector_norm({x:float}, {:count}, {:dims}, keepdim={:flag})
        {x:float}.logsumexp({:dims}, keepdim={:flag})
        {x:number}.cumsum({:dim})
        {x:number}.cumprod({:dim})
        {x:number}.cummax({:dim})
        {x:any}.any({:dim}, keepdim={:flag})
        {x:any}.all()
        {x:any}.any()
        {x:any}.all({:dim})
        {x:any}.count_nonzero({:dim})
        {x:number}.topk(1, {:dim})
        {x:number}.sort(dim={:dim}, descending={:flag}, stable=True)
        {x:number}.argsort(dim={:dim}, stable=True)
        {x:float}.median({:dim}, keepdim={:flag})
        {x:number}.aminmax(dim={:dim})
        torch.diff({x:number}, dim={:dim})
        torch.trace({x:number})
    """,
    "shape": """
        {x:any}.reshape({:sizes})
        {x:any}.view({:sizes})
        {x:any}.flatten({:dim})
        {x:any}.flatten()
        {x:any}.permute({:order})
        {x:any}.transpose({:dim}, {:dim})
        {x:any}.permute({:order}).reshape({:sizes})
        {x:any}.permute({:order}).permute({:order})
        {x:any}.reshape({:sizes}).transpose(0, -1)
        {x:any}.unsqueeze({:newdim})
        {x:any}.squeeze()
        {x:any}.squeeze({:dim})
        {x:any}.unsqueeze({d:newdim}).squeeze({d})
        {x:any}.expand({:expanded})
        {x:any}.expand_as({:like})
        {x:any}.repeat({:repeats})
        {x:any}.tile({:repeats})
        torch.repeat_interleave({x:any}, {:count}, dim={:dim})
        {x:any}.flip({:dims})
        torch.roll({x:any}, {:count}, {:dim})
        torch.rot90({x:any}, 1, (0, 1))
        torch.movedim({x:any}, {:dim}, {:dim})
        {x:any}.unflatten({:dim}, (1, -1))
        {x:any}.unfold({:dim}, 2, 1)
        torch.diagonal({x:any}, {:offset})
        torch.diag_embed({x:any})
        torch.tril({x:any}, {:offset})
        torch.triu({x:any}, {:offset})
        torch.atleast_2d({x:any})
        {x:any}.contiguous()
        {x:image}.contiguous(memory_format=torch.channels_last)
        {x:any}.clone()
        {x:any}.mT
        {x:any}.detach()
        F.pad({x:number}, {:padding})
        F.pad({x:number}, {:padding}, value={:count})
        F.pad({x:image}, (1, 2, 0, 1), mode={:mode})
        F.pad({x:signal}, (2, 1), mode={:mode})
        F.pixel_shuffle({x:image}, 2)
        F.pixel_unshuffle({x:image}, 2)
        F.channel_shuffle({x:image}, 2)
        F.unfold({x:image}, 2)
        nn.Flatten({:dim}) <- {x:any}
        nn.ZeroPad2d(1) <- {x:image}
        torch.swapaxes({x:any}, 0, {:dim})
        torch.ravel({x:any})
        torch.fliplr({x:any})
    """,
    "indexing": """
        {x:any}[{:subscript}]
        {x:any}[{:subscript}]
        {x:any}[{:subscript}]
        {x:any}[..., {:index}]
        {x:any}.select({:dim}, {:index})
        {x:any}.narrow({:dim}, 0, 1)
        {x:any}[{:integers}]
        {x:any}[:, {:integers}]
        {x:any}[{:integers}, {:integers}]
        {x:any}[..., None]
        torch.index_select({x:any}, {:dim}, {:integers})
        torch.gather({x:any}, {d:dim}, {x}.argsort(dim={d}, stable=True))
        torch.take_along_dim({x:number}, {x}.argmax({d:dim}, keepdim=True), {d})
        torch.scatter({x:float}, {d:dim}, {x}.argmin({d}, keepdim=True), {:scalar})
        {x:float}.index_add({:dim}, {i:integers}, {x})
        {x:float}.scatter_add({d:dim}, {x}.argmax({d}, keepdim=True), {x})
        torch.index_fill({x:float}, {:dim}, {:integers}, {:scalar})
        torch.slice_scatter({x:float}, {x}[:1] * 2, 0, 0, 1)
        torch.select_scatter({x:float}, {x}.select({d:dim}, 0) + 1, {d}, -1)
        {x:number}.masked_fill({x} > 0, {:scalar})
        torch.where({x:number} > {:scalar}, {x}, {:like})
        torch.where({:mask}, {x:number}, {:scalar})
        torch.where({x:bool}, {:like}, {:scalar})
        torch.where({:mask}, {x:float}, {:like})
    """,
    "joining": """
        torch.cat([{x:any}, {x}], {:dim})
        torch.cat([{x:any}, {:same}, {x}], dim={:dim})
        torch.stack([{x:any}, {:same}], {:newdim})
        torch.hstack([{x:any}, {:same}])
        torch.vstack([{x:any}, {:same}])
        {x:any}.chunk(2, {:dim})
        {x:any}.chunk(3, {:dim})
        {x:any}.split(2, {:dim})
        {x:any}.split(1, {:dim})
        torch.tensor_split({x:any}, 2, {:dim})
        torch.tensor_split({x:any}, (1, 2), {:dim})
        {x:any}.unbind({:dim})
        torch.split({x:any}, [1, {x}.size({d:dim}) - 1], {d})
        torch.cat({x:any}.chunk(2, {d:dim})[::-1], {d})
        torch.cat({x:any}.split(1, {d:dim}), {d})
        torch.stack({x:any}.unbind({d:dim}), {d})
        torch.broadcast_tensors({x:any}, {:like})
        torch.meshgrid({x:vector}, {x}, indexing="ij")
    """,
    "logic": """
        {x:number} > {:like}
        {x:number} <= {:scalar}
        {x:number} == {:like}
        {x:any} != {:same}
        torch.logical_and({x:any}, {:like})
        torch.logical_not({x:any})
        torch.logical_xor({x:any}, {:like})
        torch.isnan({x:float})
        torch.isinf({x:float} / 0)
        {x:bool} & {:mask}
        {x:bool} | {:mask}
        ~{x:bool}
        {x:int} & {:count}
        {x:int} ^ {:same}
        ~{x:int}
        {x:int} << {:count}
        torch.isclose({x:float}, {:same})
        {x:bool} * {:like}
        {x:bool}.sum({:dim})
    """,
    "dtypes": """
        torch.sum({x:any}, {:dims}, keepdim={:flag}, dtype={:dtype})
        torch.cumsum({x:number}, {:dim}, dtype={:dtype})
        {x:float}.mean({:dim}, dtype=torch.float64)
        torch.cat([{x:number}, {:same}.to({:dtype})], {:dim})
        {x:any}.to({:dtype})
        {x:any}.to({:dtype})
        {x:any}.float()
        {x:number}.double().float()
        {x:number}.long()
        {x:any}.bool()
        {x:number}.half()
        {x:any}.type_as({:like})
        {x:number} * torch.tensor({:scalar})
        {x:number} + torch.tensor({:scalar}, dtype={:dtype})
        {x:number} * torch.ones_like({x})
        {x:number} + torch.zeros({x}.shape, dtype={:dtype})
        {x:number} + torch.arange({x}.size(-1))
        {x:number} * torch.full(({x}.size(-1),), {:scalar})
        {x:number} - torch.eye({x}.size(-1))
        {x:number} + {x}.shape[0]
        {x:number}.new_ones({x}.shape).cumsum({:dim}) * {x}
        {x:number} + self.training
        torch.real({x:complex})
        torch.view_as_real({x:complex})
        torch.complex({x:float}, {x})
        {x:complex}.abs()
        {x:complex}.conj() * {x}
        torch.angle({x:complex})
    """,
    "writes": """
        {x:writable}.add_({:like})
        {x:writable}.mul_({:scalar})
        {x:writable}.relu_()
        {x:writable}.clamp_(min={:low})
        {x:writable}.zero_()
        {x:writable}.fill_({:scalar})
        {x:writable}.copy_({:like})
        {x:writable}.sub_({x}.mean())
        {x:writable}[{:subscript}] = {:scalar}
        {x:writable}[{:subscript}] += {:scalar}
        {x:writable}[{:subscript}].mul_({:scalar})
        {x:writable}[..., 0] = {x}[..., -1]
        {x:writable}.transpose(0, -1).add_({:scalar})
        {x:writable}.masked_fill_({x} > {:scalar}, {:scalar})
        {x:writable}[{x} > {:scalar}] = {:scalar}
        {x:writable}[{:integers}] = {:scalar}
        {x:writable}.flatten().div_({:count})
        {x:writable}.select({:dim}, {:index}).neg_()
        {x:writable}.chunk(2, {:dim})[-1].exp_()
        {x:writable}.unsqueeze_({:newdim})
        {x:writable}.index_fill_({:dim}, {:integers}, {:scalar})
        {x:writable}.pow_(2)
        {x:writable}.t_()
        F.relu({x:writable}, inplace=True)
        F.leaky_relu_({x:writable})
        nn.ReLU(inplace=True) <- {x:writable}
        nn.Hardtanh(inplace=True) <- {x:writable}
    """,
    "linear": """
        nn.Linear({:last}, {:width}, bias={:flag}) <- {x:single}
        nn.Linear({:last}, {:last}) <- {x:single}
        F.linear({x:single}, {:rows})
        {x:single} @ {:rows}.t()
        {x:matrix} @ {x}.mT
        torch.matmul({x:matrix}.mT, {x})
        torch.bmm({x:sequence}, {x}.transpose(1, 2))
        torch.addmm({:fraction} * {:rowbias}, {x:table}, {:rows}.t(), alpha=2)
        torch.mm({x:table}, {:rows}.t()) + {:rowbias}
        torch.matmul({x:single}, {:rows}.mT) + {:rowbias}
        torch.einsum("...i,ji->...j", {x:single}, {:rows})
        torch.einsum("ij,kj->ik", {x:table}, {x})
        torch.einsum("bij,bkj->bik", {x:sequence}, {x})
        torch.outer({x:vector}, {x})
        torch.baddbmm({:scalar} * torch.ones(1, 1, 1), {x:sequence}, {x}.mT)
        nn.Bilinear({:last}, {:last}, 3) <- {x:single}, {x}
        torch.linalg.norm({x:matrix}, dim=(-2, -1))
        torch.cdist({x:sequence}, {x})
        F.cosine_similarity({x:float}, {:same}, dim={:dim})
        F.linear({x:single}, {w:rows}) + F.linear({x} * 2, {w})
    """,
    "convolution": """
        nn.Conv2d({:channels}, {:width}, {:kernel}, padding={:pad}, bias={:flag}) <- {x:image}
        nn.Conv2d({:channels}, 4, 3, stride=2, padding=1, padding_mode={:mode}) <- {x:image}
        nn.Conv2d({c:channels}, {c}, 3, padding="same", groups={c}) <- {x:image}
        nn.Conv2d({:channels}, 4, (1, 3), dilation=2, padding="valid") <- {x:image}
        nn.Conv1d({:channels}, {:width}, {:kernel}, padding={:pad}) <- {x:signal}
        nn.Conv1d({c:channels}, {c}, 3, padding=1, groups={c}, bias=False) <- {x:signal}
        nn.ConvTranspose2d({:channels}, 4, 2, stride=2) <- {x:image}
        nn.ConvTranspose2d({:channels}, 4, 3, stride=2, padding=1, output_padding=1) <- {x:image}
        nn.ConvTranspose1d({:channels}, 4, 3, bias={:flag}) <- {x:signal}
        nn.Conv3d({:channels}, 2, 2) <- {x:volume}
        F.conv2d({x:image}, {:kernels}, padding=1)
        F.conv2d(F.pad({x:image}, (1, 1, 1, 1)), {:kernels})
        nn.Conv2d({c:channels}, {c}, 3, padding=1) <- F.pad({x:image}, (1, 0, 2, 1))
        nn.Sequential(nn.Conv2d({:channels}, 4, 3), nn.BatchNorm2d(4), nn.ReLU()) <- {x:image}
        nn.Sequential(nn.Conv2d({:channels}, 4, 1, bias=False), nn.BatchNorm2d(4)) <- {x:image}
        nn.Sequential(nn.ConvTranspose2d({:channels}, 4, 2), nn.BatchNorm2d(4)) <- {x:image}
        nn.Sequential(nn.BatchNorm2d({c:channels}), nn.Conv2d({c}, 4, 1)) <- {x:image}
        nn.Sequential(nn.Conv1d({:channels}, 4, 1), nn.BatchNorm1d(4)) <- {x:signal}
        nn.Sequential(nn.Linear({:last}, 4), nn.BatchNorm1d(4)) <- {x:table}
        {x:image} * F.conv2d({x}, {:kernels1}).sigmoid()
    """,
    "normalization": """
        nn.BatchNorm2d({:channels}) <- {x:image}
        nn.BatchNorm2d({:channels}, affine=False) <- {x:image}
        nn.BatchNorm2d({:channels}, track_running_stats=False) <- {x:image}
        nn.BatchNorm1d({:channels}) <- {x:signal}
        nn.BatchNorm1d({:last}) <- {x:table}
        nn.LayerNorm({:last}) <- {x:single}
        nn.LayerNorm({:last}, elementwise_affine=False) <- {x:single}
        nn.LayerNorm({:last}, bias=False, eps=1e-3) <- {x:single}
        F.layer_norm({x:single}, {x}.shape[-2:])
        nn.RMSNorm({:last}) <- {x:single}
        F.rms_norm({x:single}, {x}.shape[-1:])
        nn.GroupNorm(1, {:channels}) <- {x:image}
        nn.GroupNorm({c:channels}, {c}, affine={:flag}) <- {x:image}
        nn.InstanceNorm2d({:channels}, affine={:flag}) <- {x:image}
        nn.InstanceNorm1d({:channels}) <- {x:signal}
        nn.LocalResponseNorm(2) <- {x:image}
        {x:single} * torch.rsqrt({x}.pow(2).mean(-1, keepdim=True) + 1e-6)
        {x:single} * torch.rsqrt({x}.pow(2).mean(-1, keepdim=True) + 1e-6) * {:rowof}
        ({x:single} - {x}.mean(-1, keepdim=True)) / ({x}.var(-1, keepdim=True) + 1e-5).sqrt()
        ({x:single} - {x}.mean(-1, keepdim=True)) / torch.sqrt({x}.var(-1, unbiased=False, keepdim=True) + 1e-5) * {:rowof} + {:rowof}
        F.normalize({x:single}, p={:count}, dim={:dim}, eps=1e-6)
    """,  # noqa: E501
    "weight norm": """
        nn.utils.weight_norm(nn.Linear({:last}, {:width}, bias={:flag}), dim={:weightdim}) <- {x:single}
        nn.utils.weight_norm(nn.Conv1d({:channels}, 4, 3, padding=1), dim={:weightdim}) <- {x:signal}
        nn.utils.weight_norm(nn.Conv2d({:channels}, 4, 3, padding=1)) <- {x:image}
        nn.utils.weight_norm(nn.ConvTranspose1d({:channels}, 4, 4, stride=2), dim={:weightdim}) <- {x:signal}
        nn.utils.weight_norm(nn.ConvTranspose2d({:channels}, 4, 2), dim={:weightdim}) <- {x:image}
        nn.utils.weight_norm(nn.LSTM({:last}, 3), "weight_hh_l0") <- {x:sequence}
        nn.utils.weight_norm(nn.PReLU({:channels})) <- {x:image}
        nn.utils.parametrizations.weight_norm(nn.Linear({:last}, 4), dim={:weightdim}) <- {x:single}
        nn.utils.parametrizations.weight_norm(nn.Conv1d({:channels}, 4, 3), dim={:weightdim}) <- {x:signal}
        nn.utils.parametrizations.weight_norm(nn.Conv2d({c:channels}, {c}, 3, groups={c})) <- {x:image}
        nn.utils.parametrizations.weight_norm(nn.ConvTranspose2d({:channels}, 4, 2), dim={:weightdim}) <- {x:image}
        nn.utils.parametrizations.weight_norm(nn.Embedding(10, 4)) <- {x:indices}
        nn.utils.parametrizations.weight_norm(nn.GRU({:last}, 3), "weight_ih_l0") <- {x:sequence}
        nn.utils.parametrizations.weight_norm(nn.LayerNorm({:last})) <- {x:single}
        nn.Sequential(nn.utils.weight_norm(nn.Conv2d({:channels}, 4, 1)), nn.BatchNorm2d(4)) <- {x:image}
        nn.utils.spectral_norm(nn.Linear({:last}, 4)) <- {x:single}
        nn.utils.parametrizations.spectral_norm(nn.Conv2d({:channels}, 4, 3)) <- {x:image}
    """,  # noqa: E501
    "sizes": """
        {x:any}.reshape({x}.size(0), -1)
        {x:any}.reshape(-1, {x}.size(-1))
        {x:any}.view(-1, *{x}.shape[1:])
        {x:any}.reshape(*{x}.shape[:-1], 1, {x}.shape[-1])
        {x:any}.reshape({x}.size(0) * {x}.size(1), -1)
        {x:any}[: {x}.size(0) // 2]
        {x:any}[..., : ({x}.size(-1) + 1) // 2]
        {x:any}[..., {x}.size(-1) // 2 :]
        {x:any}[{x}.size(0) - 1]
        {x:any}.narrow({d:dim}, 1, {x}.size({d}) - 1)
        {x:any}.split({x}.size({d:dim}) // 2 + 1, {d})
        {x:any}.expand(2, *{x}.shape)
        {x:any}.repeat_interleave({x}.size({:dim}), dim={:dim})
        {x:number} * {x}.size({:dim})
        {x:float} / {x}.size({:dim}) ** 0.5
        {x:float} * (1 / ({x}.size({:dim}) + 1))
        {x:float}.sum({d:dim}) / {x}.size({d})
        {x:number} + torch.arange({x}.size(-1))
        {x:number} + torch.arange({x}.size(-1) - 1, -1, -1)
        {x:number} + torch.linspace(0, 1, {x}.size(-1))
        {x:number} * torch.ones({x}.size(-1)).cumsum(0)
        torch.zeros({x:any}.size(0), 2 * {x}.size(-1))
        torch.full({x:any}.shape, {:scalar})
        torch.cat([{x:number}, torch.zeros({x}.shape, dtype={x}.dtype)], {:dim})
        torch.cat([{x:any}[:1].expand({x}.shape), {x}], 0)
        F.pad({x:number}, (0, {x}.size(-1) % 2))
        F.pad({x:number}, (0, 12 - {x}.size(-1)))
        F.interpolate({x:image}, size=({x}.size(2) * 2, {x}.size(3)))
        F.interpolate({x:image}, size={x}.shape[2:], mode="bilinear")
        F.adaptive_avg_pool2d({x:image}, ({x}.size(2) // 2, 1))
        F.avg_pool2d({x:image}, {x}.shape[2:])
        F.layer_norm({x:single}, {x}.shape[-1:])
        {x:image}.flatten(2).transpose(1, 2)
        {x:image}.permute(0, 2, 3, 1).reshape({x}.size(0), -1, {x}.size(1))
        {x:image}.flatten(2).mean(-1).view({x}.size(0), -1, 1, 1) * {x}
        {x:sequence}.reshape({x}.size(0), {x}.size(1), 2, -1).transpose(1, 2)
        {x:matrix} @ {x}.mT + torch.full(({x}.size(-2), {x}.size(-2)), -1.0).triu(1)
        {x:heads}.masked_fill(torch.ones({x}.shape[-2:]).tril() == 0, -9).softmax(-1)
        {x:number} + min({x}.size(0), {x}.size(-1))
        {x:number} + int({x}.size(0) > 1)
    """,
    "pooling": """
        F.max_pool2d({x:image}, 2)
        F.max_pool2d({x:image}, 3, stride=2, padding=1, ceil_mode={:flag})
        F.max_pool2d({x:image}, 2, return_indices=True)
        F.avg_pool2d({x:image}, 2)
        F.avg_pool2d({x:image}, 3, stride=2, padding=1, count_include_pad={:flag})
        F.avg_pool2d({x:image}, 2, ceil_mode=True)
        F.avg_pool1d({x:signal}, 2)
        F.max_pool1d({x:signal}, 2, padding=1)
        F.adaptive_avg_pool2d({x:image}, 1)
        F.adaptive_avg_pool2d({x:image}, (2, 3))
        F.adaptive_avg_pool2d({x:image}, (None, 1))
        F.adaptive_max_pool2d({x:image}, 2)
        F.adaptive_avg_pool1d({x:signal}, 2)
        F.lp_pool2d({x:image}, 2, 2)
        nn.MaxPool2d(2) <- {x:image}
        nn.AvgPool2d(3, 1, 1) <- {x:image}
        nn.AdaptiveAvgPool2d(1) <- {x:image}
        nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(1)) <- {x:image}
        F.interpolate({x:image}, scale_factor=2)
        F.interpolate({x:image}, size=(5, 7), mode="bilinear", align_corners={:flag})
        F.interpolate({x:image}, scale_factor=(0.5, 1.5), mode="bilinear")
        F.interpolate({x:signal}, scale_factor=2, mode="linear")
        F.interpolate({x:image}, scale_factor=2, mode="bicubic")
        nn.Upsample(scale_factor=2) <- {x:image}
        F.grid_sample({x:image}, torch.zeros({x}.size(0), 2, 3, 2), align_corners={:flag})
    """,
    "attention": """
        F.scaled_dot_product_attention({x:heads}, {x}, {x})
        F.scaled_dot_product_attention({x:heads}, {x}, {x} + 1, is_causal=True)
        F.scaled_dot_product_attention({x:heads}, {x}, {:same}, scale={:fraction})
        torch.softmax({x:heads} @ {x}.mT / {:count}, -1) @ {x}
        torch.softmax(({x:heads} * {:fraction}) @ {x}.transpose(-2, -1), dim=-1) @ {x}
        ({x:heads} @ {x}.mT).softmax(-2) @ {x}
        nn.MultiheadAttention({:last}, 1, batch_first={:flag}) <- {x:sequence}, {x}, {x}
        nn.MultiheadAttention({:last}, 1, bias=False) <- {x:sequence}, {x}, {x}, need_weights=False
        nn.TransformerEncoderLayer({:last}, 1, 8, batch_first=True) <- {x:sequence}
    """,
    "recurrent": """
        nn.LSTM({:last}, 3) <- {x:sequence}
        nn.LSTM({:last}, 3, batch_first=True, bidirectional={:flag}) <- {x:sequence}
        nn.LSTM({:last}, 4, num_layers=2, proj_size=2) <- {x:sequence}
        nn.GRU({:last}, 3, bidirectional={:flag}, bias={:flag}) <- {x:sequence}
        nn.GRU({:last}, 3, batch_first=True, num_layers=2) <- {x:sequence}
        nn.RNN({:last}, 3, nonlinearity={:nonlinearity}) <- {x:sequence}
        nn.GRUCell({:last}, 3) <- {x:table}
        nn.LSTMCell({:last}, 3) <- {x:table}
    """,
    "fusions": """
        {:norm4}({:conv4}({x:image}))
        F.relu({:norm4}({c:conv4}({x:image})) * {c}({x}))
        {n:norm4}({:conv4}({x:image})) - {n}({:conv4}({x}) * 2)
        {:norm4}({:conv4}({x:image})[:, {:order4}])
        {:conv4}({:normc}({x:image}))
        {:linear4}({x:single} * {:scalar})
        F.conv2d(F.pad({x:image}, (1, 1, 1, 1), value={:count}), {:kernels}, padding={:pad})
        F.max_pool2d(F.pad({x:image}, (1, 0, 1, 0)), 2)
        {x:image}.reshape({x}.size(0), 2, -1, *{x}.shape[2:]).transpose(1, 2).reshape({x}.shape)
        {x:image}.unflatten(1, (-1, 2)).transpose({:low4}, 2).flatten(1, 2)
        {x:image}.unflatten(1, (-1, 2, 2)).permute(0, 1, 4, 2, 5, 3).flatten(4).flatten(2, 3)
        {x:image}.unflatten(1, (-1, 2, 2)).permute({:order6}).flatten(4).flatten(2, 3)
        {x:image}.permute(0, 2, 3, 1).reshape({x}.size(0), -1, {x}.size(1)).transpose(1, 2)
        {x:float} * torch.sigmoid({x})
        {x:float} * torch.sigmoid({x} * {:scalar})
        {x:float} * ({x} + 3).clamp(0, 6) / 6
        ({x:float} + {:count}).clamp(0, 6) / 6
        {x:float} * F.relu6({x} + 3) / {:count}
        {x:float} * torch.tanh(F.softplus({x}))
        0.5 * {x:float} * (1 + torch.erf({x} / 1.4142135623730951))
        0.5 * {x:float} * (1 + torch.tanh(0.7978845608 * ({x} + 0.044715 * {x} ** 3)))
        {x:float}.exp() / {x}.exp().sum({:dim}, keepdim=True)
        {x:float} / (1 + {x}.abs())
        {x:float} / {x}.norm(dim={:dim}, keepdim=True).clamp(min=1e-6)
        {x:float}.masked_fill({:mask}, float("-inf")).softmax({:dim})
        torch.where({:mask}, {x:float}, float("-inf"))
        torch.where({x:float} > 0, {x}, {x} * {:scalar})
        torch.cat([{x:any}[..., :1], {x}[..., 1:]], -1)
        torch.cat([{x:any}[:1], {x}[2:]])
        torch.stack([{x:any}[..., 0], {x}[..., {:index}]], -1)
        torch.cat([-{x:number}[..., 1::2], {x}[..., ::2]], {:dim})
        ({x:any}[..., :2], {x}[..., 2:])
        ({x:any}[..., :1], {x}[..., 1:2], {x}[..., 2:])
        ({x:any}[:1], {x}[:1].clone())
        (lambda q, k, v: torch.softmax(q @ k.mT / 2, -1) @ v)(*{x:heads}.chunk(3, -1))
        torch.softmax({x:heads} @ {x}.mT + ({x} @ {x}.mT > 0), -1) @ {x}
        torch.softmax({x:heads} @ {x}.mT * {:scalar}, {:dim}) @ {x}
        (lambda h: F.scaled_dot_product_attention(h, h, h).transpose(1, 2).flatten(2))({:linear8}({x:sequence}).unflatten(-1, (2, 4)).transpose(1, 2))
        (lambda h: ((h / 2) @ h.mT).softmax(-1) @ h)({:linear8}({x:sequence}).unflatten(-1, (2, 4)).transpose(1, 2)).transpose(1, 2).flatten(2)
        ({x:single} @ {:rows}.t() + {:rowbias}) * {:count}
        {x:single}.matmul({:rows}.t() * 2) + 1
        {x:any}.reshape({:sizes}).reshape({:sizes})
        {x:any}.transpose(0, -1).reshape({:sizes}).reshape({x}.shape)
        {x:any}.expand({:expanded}).reshape(-1)
        {x:number}.expand({:expanded}) + {:like}
        ({x:number} * {:count} + {:count}) // {:count}
        ({x:number} + 0) * 1 / 1
        torch.add({x:number} - 0, {:like}, alpha=1)
        {x:number} ** 1 + torch.zeros({x}.shape, dtype={x}.dtype)
    """,  # noqa: E501
    "embedding": """
        nn.Embedding(10, 4) <- {x:indices}
        nn.Embedding(10, 4, padding_idx=0) <- {x:indices}
        F.embedding({x:indices}, {:table10})
        {:table10}[{x:indices}]
        F.one_hot({x:indices}, 10)
        nn.EmbeddingBag(10, 4, mode={:bag}) <- {x:indices}.reshape(1, -1)
        nn.Embedding(10, 4, max_norm=None) <- {x:float}.long().clamp(0, 9)
    """,
}

TABLE: Mapping[str, tuple[str, ...]] = {
    family: tuple(line.strip() for line in rows.strip().splitlines())
    for family, rows in FAMILIES.items()
}
"""The rows of each family."""

NCNN_LACKS = """
    Bilinear all aminmax any argmax argmin argsort cdist copysign count_nonzero cummax cumprod
    diag_embed diagonal diff erfc fliplr float_power fmax gather hypot index_add index_fill
    index_fill_ lgamma linalg.norm median meshgrid nan_to_num rot90 scatter scatter_add sinc sort
    take_along_dim threshold topk trace xlogy
"""
"""Functions that ncnn has no layers of, nor what is put together of them."""
